/** Fallback for text that is not UTF-8. Old Windows programs use it, and every byte is valid. */
export const OLD_CHARSET = "windows-1252";

/** Characters 0x80 to 0x9f of windows-1252 (WHATWG). The rest equals latin1. */
const OF_WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

interface Decoder {
  decode(bytes: Uint8Array): string;
}

/** Some versions of Node decode 0x80 to 0x9f as latin1 (nodejs/node#56542). */
const windows1252: Decoder = {
  decode: (bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    return text.replaceAll(/[\u0080-\u009f]/g, (character) => OF_WINDOWS.charAt(character.charCodeAt(0) - 0x80));
  },
};

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

/** An ASCII character takes several bytes. */
export function isWideCharset(label: string): boolean {
  return /^(?:utf-?(?:16|32)|ucs-?[24]|unicode(?:fffe)?$)/i.test(label);
}

/** Removes a byte-order mark. Undefined when the charset is unknown or the bytes are not valid. */
export function decodedText(bytes: Uint8Array, label: string): string | undefined {
  try {
    return decoderOf(label)?.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Keeps a byte-order mark. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

export function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** UTF-16 without a mark has zero bytes (RFC 4627, section 3). For texts that start like JSON or XML. */
export function charsetByZeros(bytes: Uint8Array): string | undefined {
  const [one, two, three, four] = bytes;
  const begins = (byte: number | undefined): boolean => byte !== undefined && ["{", "[", "<", '"'].includes(String.fromCharCode(byte));
  if (begins(one) && two === 0 && three !== 0 && four === 0) return "utf-16le";
  return one === 0 && begins(two) && three === 0 && four !== 0 ? "utf-16be" : undefined;
}

/** Ignores UTF-16, which contradicts a declaration in single bytes. */
export function xmlCharset(bytes: Uint8Array): string | undefined {
  const label = /^<\?xml[^>]{0,200}?encoding=["']([\w.:-]{1,40})["']/.exec(Buffer.from(bytes.subarray(0, 300)).toString("latin1"))?.[1];
  return label === undefined || isWideCharset(label) ? undefined : label;
}

export interface FieldText {
  readonly text: string;
  /** No declared charset applied. */
  readonly isGuessed: boolean;
}

/** Tries the charsets in order, then UTF-8, then `OLD_CHARSET`. */
export function fieldText(bytes: Uint8Array, labels: readonly string[]): FieldText {
  for (const label of labels) {
    const text = decodedText(bytes, label);
    if (text !== undefined) return { text, isGuessed: false };
  }
  const text = utf8Text(bytes);
  return text === undefined ? { text: windows1252.decode(bytes), isGuessed: true } : { text, isGuessed: false };
}
