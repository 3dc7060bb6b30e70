import { describe, expect, it } from "vitest";
import { type FormFile, readMultipart } from "../../src/domain/request-body/multipart.ts";

const A = 'Content-Disposition: form-data; name="a"';
const B = 'Content-Disposition: form-data; name="b"';

function fieldsOf(body: string | Buffer, boundary = "X", most = 100) {
  const form = readMultipart(Buffer.from(body), boundary, most);
  if ("problem" in form) return form.problem;
  return form.fields.map(([name, value]) => [name, typeof value === "string" ? value : shown(value)]);
}

function shown({ filename, mimetype, url }: FormFile): readonly string[] {
  return [filename, mimetype, Buffer.from(url.slice(url.indexOf(",") + 1), "base64").toString("latin1")];
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

describe("multipart/form-data", () => {
  it.each<[string, string | Buffer, unknown[]]>([
    [
      "as browsers send it",
      `--X\r\n${A}\r\n\r\n1\r\n--X\r\n${B}\r\n\r\n2\r\n--X--\r\n`,
      [
        ["a", "1"],
        ["b", "2"],
      ],
    ],
    ["with names without quotes", "--X\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--X--\r\n", [["a", "1"]]],
    ["in lower case, without spaces", "--X\r\ncontent-disposition:form-data;name=a\r\n\r\n1\r\n--X--", [["a", "1"]]],
    [
      "with the file's name first",
      '--X\r\nContent-Disposition: form-data; filename="f.txt"; name="a"\r\nContent-Type: text/plain\r\n\r\n1\r\n--X--\r\n',
      [["a", ["f.txt", "text/plain", "1"]]],
    ],
    ["with filename*", `--X\r\n${A}; filename*=UTF-8''na%C3%AFve.txt\r\n\r\nx\r\n--X--\r\n`, [["a", ["naïve.txt", "text/plain", "x"]]]],
    ["with names in UTF-8", '--X\r\nContent-Disposition: form-data; name="é"; filename="ü.txt"\r\n\r\nx\r\n--X--\r\n', [["é", ["ü.txt", "text/plain", "x"]]]],
    ["with a preamble and an epilogue", `hello\r\n--X\r\n${A}\r\n\r\n1\r\n--X--\r\nbye\r\n--X\r\n`, [["a", "1"]]],
    [
      "with bare line feeds",
      `--X\n${A}\n\n1\n--X\n${B}\n\n2\r\n3\n--X--\n`,
      [
        ["a", "1"],
        ["b", "2\r\n3"],
      ],
    ],
    ["with spaces behind the boundary", `--X  \r\n${A}\r\n\r\n1\r\n--X--  \r\n`, [["a", "1"]]],
    [
      "with a part that has no name",
      `--X\r\nContent-Disposition: form-data\r\n\r\n1\r\n--X\r\n${B}\r\n\r\n2\r\n--X--`,
      [
        ["", "1"],
        ["b", "2"],
      ],
    ],
    [
      "with a part that has no disposition",
      `--X\r\nContent-Type: text/plain\r\n\r\n1\r\n--X\r\n${B}\r\n\r\n2\r\n--X--`,
      [
        ["", "1"],
        ["b", "2"],
      ],
    ],
    [
      "with a part that has no headers",
      `--X\r\n\r\n1\r\n--X\r\n${B}\r\n\r\n2\r\n--X--`,
      [
        ["", "1"],
        ["b", "2"],
      ],
    ],
    [
      "with a part that is attached",
      '--X\r\nContent-Disposition: attachment; name="a"; filename="x.bin"\r\n\r\n1\r\n--X--',
      [["a", ["x.bin", "text/plain", "1"]]],
    ],
    ["with an empty part", `--X\r\n${A}\r\n\r\n\r\n--X--`, [["a", ""]]],
    [
      "with an empty file",
      `--X\r\n${A}; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--X--`,
      [["a", ["", "application/octet-stream", ""]]],
    ],
    ["without its last two dashes", `--X\r\n${A}\r\n\r\n1\r\n--X`, [["a", "1"]]],
    ["with lines that begin as the boundary does", `--X\r\n${A}\r\n\r\n--Xy\r\n --X\r\n--X--\r\n`, [["a", "--Xy\r\n --X"]]],
    ["with a charset of a part", latin1(`--X\r\n${A}\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nJosé\r\n--X--`), [["a", "José"]]],
    [
      "with a charset of the form",
      latin1(`--X\r\nContent-Disposition: form-data; name="_charset_"\r\n\r\niso-8859-1\r\n--X\r\n${A}\r\n\r\nJosé\r\n--X--`),
      [
        ["_charset_", "iso-8859-1"],
        ["a", "José"],
      ],
    ],
    ["with JSON in a field", `--X\r\n${A}\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n--X--`, [["a", '{"a":1}']]],
    [
      "with a file in base64",
      `--X\r\n${A}; filename="x.bin"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\nAw==\r\n--X--`,
      [["a", ["x.bin", "text/plain", "\0\x01\x02\x03"]]],
    ],
    ["with names of prototypes", '--X\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\n1\r\n--X--', [["__proto__", "1"]]],
    ["with windows-1251", latin1(`--X\r\n${A}\r\nContent-Type: text/plain; charset=windows-1251\r\n\r\n\xcf\xf0\xe8\r\n--X--`), [["a", "При"]]],
    ["with Shift_JIS", latin1(`--X\r\n${A}\r\nContent-Type: text/plain; charset=shift_jis\r\n\r\n\x83\x65\x83\x58\r\n--X--`), [["a", "テス"]]],
    ["with iso-8859-15", latin1(`--X\r\n${A}\r\nContent-Type: text/plain; charset=iso-8859-15\r\n\r\n\xa4\xe9\r\n--X--`), [["a", "€é"]]],
    ["with UTF-16", latin1(`--X\r\n${A}\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nh\0\xe9\0\r\n--X--`), [["a", "hé"]]],
    ["with windows-1252", latin1(`--X\r\n${A}\r\nContent-Type: text/plain; charset=windows-1252\r\n\r\n\x80\xe9\r\n--X--`), [["a", "€é"]]],
    [
      "with the charset of the form, in Cyrillic",
      latin1(`--X\r\nContent-Disposition: form-data; name="_charset_"\r\n\r\nwindows-1251\r\n--X\r\n${A}\r\n\r\n\xcf\xf0\xe8\r\n--X--`),
      [
        ["_charset_", "windows-1251"],
        ["a", "При"],
      ],
    ],
    ["with a name of a file in another charset", `--X\r\n${A}; filename*=windows-1251''%cf%f0.txt\r\n\r\nx\r\n--X--`, [["a", ["Пр.txt", "text/plain", "x"]]]],
    [
      "with both names of a file",
      `--X\r\n${A}; filename="EUR.txt"; filename*=UTF-8''%e2%82%ac%20rates.txt\r\n\r\nx\r\n--X--`,
      [["a", ["€ rates.txt", "text/plain", "x"]]],
    ],
    ["with a name of a file in parts", `--X\r\n${A}; filename*0="long"; filename*1="name.txt"\r\n\r\nx\r\n--X--`, [["a", ["longname.txt", "text/plain", "x"]]]],
    [
      "with a name in parts that are encoded",
      `--X\r\n${A}; filename*0*=UTF-8''%e2%82; filename*1*=%ac.txt\r\n\r\nx\r\n--X--`,
      [["a", ["€.txt", "text/plain", "x"]]],
    ],
    ["with a line break in the name of a file", `--X\r\n${A}; filename*=UTF-8''a%0D%0Ab.txt\r\n\r\nx\r\n--X--`, [["a", ["a\r\nb.txt", "text/plain", "x"]]]],
    ["with a bare return in a name", '--X\r\nContent-Disposition: form-data; name="a\rb"\r\n\r\n1\r\n--X--', [["a\rb", "1"]]],
    ["with a line break in a name", '--X\r\nContent-Disposition: form-data; name="a\r\nb"\r\n\r\n1\r\n--X--', [["a\nb", "1"]]],
    ["with a name that has spaces and no quotes", "--X\r\nContent-Disposition: form-data; name=my field\r\n\r\n1\r\n--X--", [["my field", "1"]]],
    ["with a name in apostrophes", "--X\r\nContent-Disposition: form-data; name='my field'\r\n\r\n1\r\n--X--", [["my field", "1"]]],
    ["without a semicolon", '--X\r\nContent-Disposition: form-data name="a"\r\n\r\n1\r\n--X--', [["a", "1"]]],
    ["without its kind", '--X\r\nContent-Disposition: name="a"\r\n\r\n1\r\n--X--', [["a", "1"]]],
    [
      "with headers that go on in the next line",
      '--X\r\nContent-Disposition: form-data;\r\n\tname="a";\r\n filename="f.txt"\r\n\r\n1\r\n--X--',
      [["a", ["f.txt", "text/plain", "1"]]],
    ],
    ["with very long headers", `--X\r\n${A}\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n1\r\n--X--`, [["a", "1"]]],
    [
      "with a field in quoted-printable",
      `--X\r\n${A}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nJos=C3=A9=\r\n!\r\n--X--`,
      [["a", "José!"]],
    ],
    ["with the path of a file, as Windows has it", `--X\r\n${A}; filename="C:\\dir\\x.txt"\r\n\r\nx\r\n--X--`, [["a", ["x.txt", "text/plain", "x"]]]],
    ["with nothing in it", "--X--\r\n", []],
  ])("%s is read", (_how, body, fields) => {
    expect(fieldsOf(body)).toEqual(fields);
  });

  it("keeps every byte of a file, in the order in which fields and files came", () => {
    const every = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    const body = Buffer.concat([latin1(`--X\r\n${A}; filename="x"\r\nContent-Type: image/png\r\n\r\n`), every, latin1(`\r\n--X\r\n${B}\r\n\r\n2\r\n--X--`)]);
    expect(fieldsOf(body)).toEqual([
      ["a", ["x", "image/png", every.toString("latin1")]],
      ["b", "2"],
    ]);
  });

  it("whose text is not UTF-8 is read as old Windows programs write it, and says so", () => {
    const form = readMultipart(latin1(`--X\r\n${A}\r\n\r\nJosé\r\n--X--`), "X", 10);
    expect(form).toEqual({ fields: [["a", "José"]], isGuessed: true });
  });

  it("without a boundary in its header has that of its first line", () => {
    expect(readMultipart(Buffer.from(`--some thing\r\n${A}\r\n\r\n1\r\n--some thing--`), undefined, 10)).toEqual({
      fields: [["a", "1"]],
      isGuessed: false,
    });
    for (const mark of ["a'()+_,-./:=?b", "x".repeat(200), '"']) expect(fieldsOf(`--${mark}\r\n${A}\r\n\r\n1\r\n--${mark}--`, mark)).toEqual([["a", "1"]]);
  });

  it("that cannot be read says why", () => {
    expect(fieldsOf(`--X\r\n${A}\r\n\r\n1`)).toBe("it ends in the middle of a part");
    expect(fieldsOf("a=1")).toBe("it does not contain its boundary");
    expect(readMultipart(Buffer.from("a=1"), undefined, 10)).toEqual({ problem: "it has no boundary" });
    expect(fieldsOf(`${`--X\r\n${A}\r\n\r\n1\r\n`.repeat(12)}--X--`, "X", 10)).toBe("it has more than 10 parts");
  });

  it.each([
    ["spaces", `${A}${" ".repeat(5_000_000)}x`],
    ["lines that go on", `${A}\r\n${" x\r\n".repeat(1_000_000)}`],
    ["open quotes", `${A}; x="${"\r\n".repeat(1_000_000)}`],
    ["equal signs", `${A}${"; a=".repeat(1_000_000)}`],
    ["a word", `${A}; ${"a".repeat(5_000_000)}`],
  ])("whose headers are millions of characters of %s is read at once", (_what, head) => {
    const before = process.cpuUsage();
    expect(fieldsOf(`--X\r\n${head}\r\n\r\n1\r\n--X--`)).toBeInstanceOf(Array);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
  });
});
