import { describe, expect, it } from "vitest";
import { type AnswerHead, AnswerReader } from "../../src/system/http-answer-reader.ts";

function told(text: string, { method = "GET", size = text.length, isEnded = false }: { method?: string; size?: number; isEnded?: boolean } = {}) {
  const heads: AnswerHead[] = [];
  let body = "";
  let end: boolean | undefined;
  const reader = new AnswerReader(method, {
    head: (head) => heads.push(head),
    data: (bytes) => (body += String(bytes)),
    end: (isReusable) => (end = isReusable),
  });
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) reader.read(bytes.subarray(from, from + size));
  const isWhole = isEnded ? reader.ended() : undefined;
  return { heads, body, end, isWhole };
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("an answer is read, in whatever pieces it comes", () => {
  it.each<[what: string, text: string, body: string, isReusable: boolean]>([
    ["of a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One:  a \r\nx-one: b\r\n\r\nhello", "hello", true],
    ["of chunks", `${CHUNKED}2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n`, "hello", true],
    ["of chunks with what follows them", `${CHUNKED}5\r\nhello\r\n0\r\nDigest: x\r\n\r\n`, "hello", true],
    ["of no length", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "", true],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
    ["without words for its status", "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok", "ok", true],
    ["after another that tells of it", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok", true],
    ["whose connection is closed after it", "HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 2\r\n\r\nok", "ok", false],
    ["of an older server", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok", false],
    ["that begins with an end of line in its body", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\r\n\r\n", "\r\n\r\n", true],
  ])("%s", (_what, text, body, isReusable) => {
    for (let size = 1; size <= text.length; size++) expect(told(text, { size })).toMatchObject({ heads: [{}], body, end: isReusable });
  });

  it("with names in lower case, and what was said twice joined", () => {
    const { heads } = told("HTTP/1.1 418 I'm a teapot\r\nX-One:  a \r\nx-one: b\r\nEmpty:\r\ncontent-length: 0\r\n\r\n");
    expect(heads).toEqual([{ statusCode: 418, headers: { "x-one": "a, b", empty: "", "content-length": "0" } }]);
  });

  it("that goes on until the connection ends", () => {
    for (const size of [1, 7, 99])
      expect(told("HTTP/1.1 200 OK\r\n\r\nhello", { size, isEnded: true })).toMatchObject({ body: "hello", end: false, isWhole: true });
  });

  it("to a request for its head alone", () => {
    expect(told("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", { method: "HEAD" })).toMatchObject({ body: "", end: true });
  });

  it("and no other request follows one with which more came than it says", () => {
    expect(told("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok, and more")).toMatchObject({ body: "ok", end: false });
  });

  it.each(["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell", `${CHUNKED}5\r\nhello\r\n`, `${CHUNKED}5\r\nhel`, "HTTP/1.1 200 OK\r\n", ""])(
    "as cut off where the connection ends within it: %j",
    (text) => {
      for (let size = 1; size <= text.length + 1; size++) expect(told(text, { size, isEnded: true })).toMatchObject({ end: undefined, isWhole: false });
    },
  );
});

describe("what is no answer is refused", () => {
  it.each<[what: string, text: string, problem: string]>([
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "no HTTP/1.1"],
    ["another version of HTTP", "HTTP/2 200 OK\r\n\r\n", "no HTTP/1.1"],
    ["a change of the protocol", "HTTP/1.1 101 Switching\r\n\r\n", "another protocol"],
    ["a line that is no header", "HTTP/1.1 200 OK\r\nno header\r\n\r\n", "no header"],
    ["a header that goes on in the next line", "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n", "no header"],
    ["a length that is none", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "no usable length"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "no usable length"],
    ["a chunk without a size", `${CHUNKED}hello\r\n`, "no chunk"],
    ["a chunk that is longer than it says", `${CHUNKED}2\r\nhello\r\n`, "longer than it says"],
    ["headers without an end", `HTTP/1.1 200 OK\r\na: ${"x".repeat(70_000)}`, "more than 65536 bytes of headers"],
    ["a line of a chunk without an end", `${CHUNKED}2;${"x".repeat(5000)}`, "more than 4096 bytes"],
  ])("%s", (_what, text, problem) => {
    for (const size of [text.length, 11]) expect(() => told(text, { size })).toThrow(problem);
  });
});
