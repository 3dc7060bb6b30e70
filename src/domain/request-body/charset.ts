/** What text is read as when it is not UTF-8 and nobody says what it is: the charset of old Windows programs, in which every byte is a character. */
export const OLD_CHARSET = "windows-1252";

/** Characters of windows-1252 from 0x80 to 0x9f, as the WHATWG encoding standard has them. All others are those of latin1. */
const OF_WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

interface Decoder {
  decode(bytes: Uint8Array): string;
}

/** Node's own reads 0x80 to 0x9f as latin1 in some versions (nodejs/node#56542). */
const windows1252: Decoder = {
  decode: (bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    return text.replaceAll(/[\u0080-\u009f]/g, (character) => OF_WINDOWS.charAt(character.charCodeAt(0) - 0x80));
  },
};

/** The decoder of a charset by its label, such as `latin1`. `undefined`: there is none of this name. */
function decoderOf(label: string): Decoder | undefined {
  try {
    const decoder = new TextDecoder(label.replace(/^cp-?(\d+)$/i, "windows-$1"), { fatal: true });
    return decoder.encoding === OLD_CHARSET ? windows1252 : decoder;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function isCharset(label: string): boolean {
  return decoderOf(label) !== undefined;
}

/** A charset of more than one byte a character, in which ASCII is not what it is elsewhere. */
export function isWideCharset(label: string): boolean {
  return /^(?:utf-?(?:16|32)|ucs-?[24]|unicode(?:fffe)?$)/i.test(label);
}

/** The text without a byte-order mark. `undefined`: there is no such charset, or the bytes are not of it. */
export function decodedText(bytes: Uint8Array, label: string): string | undefined {
  try {
    return decoderOf(label)?.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** With its byte-order mark. `undefined`: the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The charset that a byte-order mark announces. */
export function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** UTF-16 without a mark: every other byte of the first characters is zero (RFC 4627, section 3), and a document begins so. */
export function charsetByZeros(bytes: Uint8Array): string | undefined {
  const [one, two, three, four] = bytes;
  const begins = (byte: number | undefined): boolean => byte !== undefined && ["{", "[", "<", '"'].includes(String.fromCharCode(byte));
  if (begins(one) && two === 0 && three !== 0 && four === 0) return "utf-16le";
  return one === 0 && begins(two) && three === 0 && four !== 0 ? "utf-16be" : undefined;
}

/** What an XML document says of itself. That it says so in single bytes belies UTF-16. */
export function xmlCharset(bytes: Uint8Array): string | undefined {
  const label = /^<\?xml[^>]{0,200}?encoding=["']([\w.:-]{1,40})["']/.exec(Buffer.from(bytes.subarray(0, 300)).toString("latin1"))?.[1];
  return label === undefined || isWideCharset(label) ? undefined : label;
}

export interface FieldText {
  readonly text: string;
  /** Nothing has said what it is. */
  readonly isGuessed: boolean;
}

/** A field in the first of these charsets that it can be of, else UTF-8, else what old programs write. */
export function fieldText(bytes: Uint8Array, labels: readonly string[]): FieldText {
  for (const label of labels) {
    const text = decodedText(bytes, label);
    if (text !== undefined) return { text, isGuessed: false };
  }
  const text = utf8Text(bytes);
  return text === undefined ? { text: windows1252.decode(bytes), isGuessed: true } : { text, isGuessed: false };
}
