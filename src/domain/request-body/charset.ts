import { isUtf8 } from "node:buffer";

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
function decoderOf(label: string, isFatal: boolean): Decoder | undefined {
  try {
    const decoder = new TextDecoder(label.replace(/^cp-?(\d+)$/i, "windows-$1"), { fatal: isFatal });
    return decoder.encoding === OLD_CHARSET ? windows1252 : decoder;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function isCharset(label: string): boolean {
  return decoderOf(label, false) !== undefined;
}

/** The text without a byte-order mark. `undefined`: there is no such charset, or the bytes are not of it. */
export function decodedText(bytes: Uint8Array, label: string): string | undefined {
  try {
    return decoderOf(label, true)?.decode(bytes);
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

/** UTF-16 without a mark, by the zeros between the first characters (RFC 4627, section 3). */
export function charsetByZeros([first, second]: Uint8Array): string | undefined {
  if (first === undefined || second === undefined || (first === 0) === (second === 0)) return undefined;
  return second === 0 ? "utf-16le" : "utf-16be";
}

/** What an XML document says of itself. */
export function xmlCharset(bytes: Uint8Array): string | undefined {
  return /^<\?xml[^>]{0,200}?encoding=["']([\w.:-]{1,40})["']/.exec(Buffer.from(bytes.subarray(0, 300)).toString("latin1"))?.[1];
}

/** A field that may be of an old charset: UTF-8 where it is that. `label`: as it is announced. */
export function fieldText(bytes: Uint8Array, label: string | undefined): { readonly text: string; readonly isGuessed: boolean } {
  const known = label === undefined ? undefined : decoderOf(label, false);
  if (known !== undefined) return { text: known.decode(bytes), isGuessed: false };
  return isUtf8(bytes) ? { text: Buffer.from(bytes).toString(), isGuessed: false } : { text: windows1252.decode(bytes), isGuessed: true };
}
