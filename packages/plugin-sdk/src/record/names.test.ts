import { describe, expect, it } from "vitest";
import { IDENTIFIERS } from "./__fixtures__/identifiers.ts";
import { namesIn } from "./names.ts";

describe("namesIn", () => {
  it("finds files, symbols and ids as they stand there, each once", () => {
    const names = namesIn(
      "Open `src/store/open.ts:12:3` and package.json, call loadUser() or MAX_RETRIES; see PROJ-17, #42, deadbee1, OWZ4XL and src/store/open.ts.",
    );
    expect(names).toEqual([
      { kind: "path", name: "src/store/open.ts", places: [6, 119] },
      { kind: "path", name: "package.json", places: [34] },
      { kind: "symbol", name: "loadUser", places: [53] },
      { kind: "symbol", name: "MAX_RETRIES", places: [67] },
      { kind: "id", name: "PROJ-17", places: [84] },
      { kind: "id", name: "#42", places: [93] },
      { kind: "id", name: "deadbee1", places: [98] },
      { kind: "id", name: "OWZ4XL", places: [108] },
    ]);
  });

  it.each([
    ["文件src/a.ts已修改", ["src/a.ts"]],
    ["请看src/组件/登录页面.tsx文件", ["src/组件/登录页面.tsx"]],
    ["src/a.ts를 고쳐", ["src/a.ts"]],
    ["函数getUserById返回", ["getUserById"]],
    ["ملف src/a.ts، ثم src/b.ts؛", ["src/a.ts", "src/b.ts"]],
    ["¿src/a.ts? —src/b.ts—", ["src/a.ts", "src/b.ts"]],
    ["src/a.ts\u200b \u202esrc/b.ts\u202c", ["src/a.ts", "src/b.ts"]],
    ["see src/a.ts#L12 and src/b.ts#L3-L9", ["src/a.ts", "src/b.ts"]],
    ["path=src/a.ts --config=src/b.ts", ["src/a.ts", "--config", "src/b.ts"]],
    ["call(src/a.ts), [x](src/b.ts)", ["src/a.ts", "src/b.ts"]],
  ])("finds in %j the names alone", (text, names) => {
    expect(namesIn(text).map(({ name }) => name)).toEqual(names);
  });

  it("takes times, scopes of one letter and plain pairs for no addresses", () => {
    for (const text of ["12:30:45", "a::b", "error:404", "logger.info", "this.app", "and.so.on"])
      expect(namesIn(text).filter(({ kind, weak }) => kind === "id" && !weak)).toEqual([]);
  });

  it("takes what is called or is a member of something for no file", () => {
    expect(namesIn("registry.Lock(x); app.log(1) console.log process.env mutex.Lock")).toEqual([]);
    expect(namesIn("yarn.lock app.log README.MD")).toHaveLength(3);
  });

  it("takes no plain words, alternatives or closing tags for names", () => {
    expect(
      namesIn("Read and/or write it; </system> the feedback, 12 times, however short. a/b"),
    ).toEqual([]);
  });

  it("takes what a program imports for a name that has to come again", () => {
    const found = namesIn('import (\n\t"sync/atomic"\n) import fp from \'lodash/fp\'; "net/http');
    expect(found).toEqual([
      { kind: "path", name: "sync/atomic", places: [11], weak: true },
      { kind: "path", name: "lodash/fp", places: [42], weak: true },
    ]);
  });

  it("stays linear on words made to be slow", () => {
    const hostile = [
      "aA".repeat(60),
      `${"a/".repeat(70)}!`,
      `${"a_".repeat(60)}-`,
      "a-1".repeat(50),
      `${"A".repeat(150)}-`,
      "x".repeat(50_000),
    ];
    const text = hostile.map((word) => `${word} `.repeat(200)).join("");
    expect(namesIn(text).length).toBeLessThan(50);
  });

  it.each(IDENTIFIERS)("%s is one name", (name) => {
    expect(namesIn(`Look at ${name} now.`)).toContainEqual(
      expect.objectContaining({ name, places: [8] }),
    );
  });

  it("finds of a search's lines the files, with a number and without", () => {
    const names = namesIn("pkg/a/file.go:12:func x\npkg/b/other.go:var y\npkg/c.go-110-code");
    expect(names.map(({ name }) => name)).toEqual(["pkg/a/file.go", "pkg/b/other.go", "pkg/c.go"]);
  });
});
