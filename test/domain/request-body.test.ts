import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/domain/text/json.ts";
import { LIMITS } from "../../src/domain/limits.ts";
import { readBody, readQuery } from "../../src/domain/request-body/read-body.ts";

type Headers = Readonly<Record<string, string>>;
const JSON_TYPE = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

async function read(headers: Headers, body: string | Uint8Array, query = "") {
  const bytes = Buffer.from(body);
  const isText = bytes.equals(Buffer.from(bytes.toString()));
  return readBody({ headers, query, body: bytes.toString(isText ? "utf8" : "base64"), encoding: isText ? "utf8" : "base64" });
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const swapped = (text: string): Buffer => utf16(text).swap16();
const MARK = "\uFEFF";

describe("a body that is compressed", () => {
  const json = '{"a":"ä"}';
  it.each([
    ["gzip", gzipSync(json)],
    ["x-gzip", gzipSync(json)],
    ["GZIP", gzipSync(json)],
    ["deflate", deflateSync(json)],
    ["deflate", deflateRawSync(json)],
    ["br", brotliCompressSync(json)],
    ["gzip, br", brotliCompressSync(gzipSync(json))],
    ["identity, gzip", gzipSync(json)],
    ["utf-8", Buffer.from(json)],
    ["", Buffer.from(json)],
  ])("as %s is read", async (coding, bytes) => {
    expect(await read({ ...JSON_TYPE, "content-encoding": coding }, bytes)).toEqual({ body: { a: "ä" }, notes: [] });
  });

  it.each([
    ["gzip", Buffer.from(json), { a: "ä" }, /content-encoding: gzip\): it is not valid gzip \(incorrect header check\)/],
    ["compress", Buffer.from(json), { a: "ä" }, /"compress" is not supported/],
    ["constructor", Buffer.from(json), { a: "ä" }, /"constructor" is not supported/],
    ["gzip", gzipSync(json).subarray(0, 15), expect.any(Buffer), /unexpected end of file/],
    ["gzip, gzip, gzip, gzip, gzip", gzipSync(json), expect.any(Buffer), /it has 5 encodings, more than the limit of 4/],
    ["gzip", gzipSync(Buffer.alloc(LIMITS.body + 1)), expect.any(Buffer), /it is larger than 10485760 bytes/],
    ["br", brotliCompressSync(Buffer.alloc(200 * 2 ** 20), { params: { 1: 1 } }), expect.any(Buffer), /it is larger than/],
  ])("as %s and is not, or is too much, stays as it was sent, and a note says why", async (coding, bytes, body, note) => {
    const found = await read({ ...JSON_TYPE, "content-encoding": coding }, bytes);
    expect(found.body).toEqual(body);
    expect(found.notes[0]).toMatch(note);
  });
});

describe("a body in another charset", () => {
  const json = '{"a":"José €"}';
  it.each([
    ["application/json; charset=iso-8859-1", latin1('{"a":"José"}'), { a: "José" }],
    ['application/json; Charset="ISO-8859-1"', latin1('{"a":"José"}'), { a: "José" }],
    ["application/json;charset=cp1252", Buffer.from([...latin1('{"a":"'), 0x80, ...latin1('"}')]), { a: "€" }],
    ["application/json; charset=utf-16", utf16(MARK + json), { a: "José €" }],
    ["application/json; charset=utf-16le", utf16(json), { a: "José €" }],
    ["application/json; charset=utf-16be", swapped(json), { a: "José €" }],
    ["application/json", utf16(MARK + json), { a: "José €" }],
    ["application/json", swapped(MARK + json), { a: "José €" }],
    ["application/json", utf16('{"a":1}'), { a: 1 }],
    ["application/json", MARK + json, { a: "José €" }],
    ["application/json; charset=utf-8", MARK + json, { a: "José €" }],
    ["application/json; charset=iso-8859-1", MARK + json, { a: "José €" }],
    ["application/json; charset=Shift_JIS", Buffer.from([...latin1('{"a":"'), 0x83, 0x65, 0x83, 0x58, 0x83, 0x67, ...latin1('"}')]), { a: "テスト" }],
    ["text/plain; charset=latin1", latin1("José"), "José"],
    ["text/xml", latin1('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'), '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'],
    ["text/csv", `${MARK}a;b`, "a;b"],
    ["application/octet-stream", MARK, MARK],
  ])("%s is read as what it says", async (type, bytes, body) => {
    expect(await read({ "content-type": type }, bytes)).toEqual({ body, notes: [] });
  });

  it.each([
    ["application/json; charset=klingon", '{"a":1}', 'the charset "klingon" is not supported'],
    ["application/json; charset=utf-16le", Buffer.from([0x00, 0xd8, 0x7b]), "it is not valid utf-16le"],
    ["application/json", latin1('{"a":"José"}'), "it is not valid utf-8"],
    ["text/plain", latin1("José"), "it is not valid utf-8"],
    ["text/plain; charset=utf-8", latin1("José"), "it is not valid utf-8"],
  ])("%s that is not that stays as it was sent, and a note says why", async (type, bytes, why) => {
    const { body, notes } = await read({ "content-type": type }, bytes);
    expect(Buffer.from(typeof body === "string" ? body : (body as Buffer))).toEqual(Buffer.from(bytes));
    expect(notes).toEqual([expect.stringContaining(why)]);
  });
});

describe("JSON", () => {
  it.each([
    "application/json",
    "text/json",
    "application/x-json",
    "application/vnd.github+json",
    "application/problem+json; charset=utf-8",
    "APPLICATION/JSON ; charset = utf-8",
    "application/json, application/json",
    "application/x-amz-json-1.1",
    "application/csp-report",
    "text/plain; charset=UTF-8",
    "text/plain",
    "",
  ])("under %j is read", async (type) => {
    expect(await read({ "content-type": type }, ' {"a":[1,{"__proto__":2}]}')).toEqual({ body: JSON.parse('{"a":[1,{"__proto__":2}]}'), notes: [] });
    expect(await read({ "content-type": type }, "[1]")).toMatchObject({ body: [1] });
  });

  it.each(["12345678901234567890", "true", "null", '"a"', "{a: 1}", "[1", "{}}", "", " "])(
    "that is no object stays the text %j that it is, under a text type",
    async (text) => {
      expect(await read({ "content-type": "text/plain" }, text)).toEqual(text === "" ? { notes: [] } : { body: text, notes: [] });
    },
  );

  it("under the type of something else stays what that is", async () => {
    expect(await read(FORM, '{"a":1}')).toEqual({ body: { '{"a":1}': "" }, notes: [] });
    expect(await read({ "content-type": "application/xml" }, '{"a":1}')).toEqual({ body: '{"a":1}', notes: [] });
    expect(await read({ "content-type": "application/x-ndjson" }, '{"a":1}\n{"a":2}')).toEqual({ body: '{"a":1}\n{"a":2}', notes: [] });
  });

  it("that is announced and is none, or is too much, is told of", async () => {
    expect(await read(JSON_TYPE, "{a: 1}")).toEqual({ body: "{a: 1}", notes: [expect.stringMatching(/^The body cannot be read as JSON: /)] });
    const many = JSON.stringify(Array.from({ length: LIMITS.members + 1 }, () => 0));
    expect(await read(JSON_TYPE, many)).toEqual({ body: many, notes: ["The body is JSON with more than 500000 members or 2000 levels: it stays a string"] });
    const deep = "[".repeat(5000) + "]".repeat(5000);
    expect((await read(JSON_TYPE, deep)).notes).toHaveLength(1);
  });
});

describe("a form", () => {
  it.each([
    ["a=1&b=2&b=3", { a: "1", b: ["2", "3"] }],
    ["contact[id]=1&data[email]=x%40y&l[]=1&l[]=2", { "contact[id]": "1", "data[email]": "x@y", "l[]": ["1", "2"] }],
    [`${MARK}a=1`, { a: "1" }],
    ["a=Jos%C3%A9", { a: "José" }],
    ["charset=windows-1252&a=Jos%E9", { charset: "windows-1252", a: "José" }],
    ["a=%83%65&_charset_=shift_jis", { a: "テ", _charset_: "shift_jis" }],
    ["charset=large&a=1", { charset: "large", a: "1" }],
  ])("%s is read as a flat object", async (text, body) => {
    expect(await read(FORM, text)).toEqual({ body, notes: [] });
  });

  it("is read in the charset of its header, sent as bytes or in percents", async () => {
    const type = { "content-type": "application/x-www-form-urlencoded; charset=windows-1252" };
    expect(await read(type, "name=Jos%E9")).toEqual({ body: { name: "José" }, notes: [] });
    expect(await read(type, latin1("name=José"))).toEqual({ body: { name: "José" }, notes: [] });
  });

  it("that is not UTF-8 and says nothing keeps its fields, and is told of", async () => {
    for (const text of ["name=Jos%E9&b=1", latin1("name=José&b=1")])
      expect(await read(FORM, text)).toEqual({ body: { name: "José", b: "1" }, notes: [expect.stringContaining("was read as windows-1252")] });
  });

  it("with names of prototypes is one of fields like all others", async () => {
    const { body } = await read(FORM, "__proto__=1&constructor=2&__proto__=3&toString=4");
    expect(Object.entries(body as object)).toEqual([
      ["__proto__", ["1", "3"]],
      ["constructor", "2"],
      ["toString", "4"],
    ]);
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
    const { fields } = readQuery("__proto__=1&constructor=2&n=Jos%E9");
    expect(Object.entries(fields)).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
      ["n", "José"],
    ]);
  });

  it("with too many fields stays as it was sent, and is told of", async () => {
    const text = "a=1&".repeat(LIMITS.fields + 1);
    expect(await read(FORM, text)).toEqual({ body: text, notes: [expect.stringContaining("more than 10000 fields")] });
  });
});

describe("what senders announce wrongly", () => {
  it.each<[string, string, string | Buffer, unknown]>([
    ["a form that says UTF-8 and is not", `${FORM["content-type"]}; charset=utf-8`, "name=Jos%E9", { name: "José" }],
    [
      "a form that says UTF-8 and names another charset",
      `${FORM["content-type"]}; charset=utf-8`,
      "charset=shift_jis&name=%83%65",
      { charset: "shift_jis", name: "テ" },
    ],
    ["a form with a field called charset", FORM["content-type"], "name=abcd&charset=utf-16", { name: "abcd", charset: "utf-16" }],
    ["a form in UTF-8 with a field called charset", FORM["content-type"], "name=%C3%A9&charset=iso-8859-1", { name: "é", charset: "iso-8859-1" }],
    ["XML that .NET has written", "text/xml", '<?xml version="1.0" encoding="utf-16"?><a>hello</a> ', '<?xml version="1.0" encoding="utf-16"?><a>hello</a> '],
    ["JSON that says UTF-16 and is UTF-8", "application/json; charset=utf-16", '{"a":"é"}', { a: "é" }],
    ["bytes without a type", "", Buffer.from([1, 0, 2, 3]), "\u0001\0\u0002\u0003"],
    ["bytes without a type that are no text", "", Buffer.from([0, 0x17, 3, 0xff]), Buffer.from([0, 0x17, 3, 0xff])],
    ["bytes with a charset", "application/octet-stream; charset=ISO-8859-1", Buffer.from([0x80, 0x99, 0xff]), Buffer.from([0x80, 0x99, 0xff])],
    ["text that begins with a zero", "text/plain", "\0hello", "\0hello"],
    ["JSON without a semicolon", "application/json charset=utf-8", '{"a":1}', { a: 1 }],
    ["JSON with a colon", "application/json: charset=utf-8", '{"a":1}', { a: 1 }],
    ["JSON in quotes", '"application/json"', '{"a":1}', { a: 1 }],
    ["JSON-RPC", "application/json-rpc", '{"a":1}', { a: 1 }],
    ["a form without a semicolon", "application/x-www-form-urlencoded charset=utf-8", "a=1", { a: "1" }],
    ["multipart without a semicolon", "multipart/form-data boundary=X", '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X--', { a: "1" }],
    [
      "multipart with a boundary in quotes",
      'multipart/form-data; boundary="X; y"',
      '--X; y\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X; y--',
      { a: "1" },
    ],
  ])("is read as what it is: %s", async (_what, type, bytes, body) => {
    const found = await read({ "content-type": type }, bytes);
    expect(found.body).toEqual(body);
  });

  it("is told of where a number loses digits, or text that is JSON is too much", async () => {
    const { body, notes } = await read(JSON_TYPE, '{"id":12345678901234567890,"text":"12345678901234567890","safe":1234567890123456}');
    expect(body).toMatchObject({ text: "12345678901234567890", safe: 1234567890123456 });
    expect(notes).toEqual(["The body has the number 12345678901234567890, which JavaScript rounds: bodyRaw has all its digits"]);
    const many = JSON.stringify(Array.from({ length: LIMITS.members + 1 }, () => 0));
    expect(await read({ "content-type": "text/plain" }, many)).toEqual({ body: many, notes: [expect.stringContaining("more than 500000 members")] });
  });
});

describe("a body that is to be handed over as a file", () => {
  it("is the address of one", async () => {
    const png = Buffer.from([0x89, 0x50, 0, 0xff]);
    const asked = { "content-type": "image/png", "x-pd-upload-body": "1" };
    for (const { body } of [await read(asked, png), await read({ "content-type": "image/png" }, png, "a=1&pipedream_upload_body=1")]) {
      if (!isRecord(body)) throw new Error("no body");
      const fetched = await fetch(String(body["raw_body_url"]));
      expect([fetched.headers.get("content-type"), Buffer.from(await fetched.arrayBuffer())]).toEqual(["image/png", png]);
    }
  });
});

it("whatever bytes come under whatever headers are read at once, or stay as they are", async () => {
  const types = fc.constantFrom(
    "application/json",
    "application/json; charset=utf-16",
    "text/plain",
    "multipart/form-data; boundary=X",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=shift_jis",
    "text/xml",
    ";;;=",
    "application/json; charset=",
  );
  const codings = fc.constantFrom("", "gzip", "deflate", "br", "gzip, deflate", "toString");
  const pieces = fc.constantFrom(
    "--X",
    "--X--",
    "\r\n",
    "\n",
    'Content-Disposition: form-data; name="a"',
    ": ",
    '{"a":',
    "}",
    "[",
    "]",
    "%",
    "=",
    "&",
    "\uFEFF",
    "é",
    "\0",
    '<?xml encoding="',
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fc.oneof(pieces, fc.string()), { maxLength: 30 }).map((all) => Buffer.from(all.join(""))),
    fc.string().map((text) => gzipSync(text)),
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(types, fc.string()), fc.oneof(codings, fc.string()), bytes, async (type, coding, body) => {
      const began = performance.now();
      const found = await read({ "content-type": type, "content-encoding": coding }, body);
      expect(performance.now() - began).toBeLessThan(1000);
      expect("body" in found).toBe(body.length > 0);
      expect(found.notes.every((note) => note.startsWith("The body "))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
