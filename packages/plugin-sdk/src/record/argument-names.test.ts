import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentName } from "./argument-names.ts";

describe("the name that an argument is", () => {
  it.each([
    ["~/Library/Application Support/App/settings.json", "path"],
    ["/srv/Data of March/report 3.xlsx", "path"],
    ["@scope/pkg@^4.2.1", "id"],
    ["crate::module::Type<T>", "id"],
    ["HEAD~3", "id"],
    ["obj.prop.deep[0].name", "id"],
    ["[fe80::1ff:fe23:4567:890a]", "id"],
    ["+49 30 901820", "id"],
    ["获取用户信息", "id"],
    ["table:sales.orders_2025", "id"],
    ["2025-03-14T09:26:53Z", "id"],
  ])("%s is whole", (name, kind) => {
    expect(argumentName(name)).toEqual({ kind, name });
  });

  it.each([
    "How do I fix the login?",
    "main",
    "Error",
    "200",
    "handleLogin|handleLogout",
    "class\\s+Foo",
    "[A-Z]+_id",
    "[^,]",
    "src/**/*.ts",
    "/a/b.ts /c/d.ts",
    "/usr/bin/env --version",
    "/tmp is full, delete something.",
    "a, b, c",
    "x".repeat(200),
    // Read as a name wherever it stands.
    "src/store/db.ts",
    "handleLogin",
    "2001:db8::1",
  ])("%s is none", (text) => {
    expect(argumentName(text)).toBeUndefined();
  });

  it("is the text itself, on one line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const found = argumentName(text);
        if (found === undefined) return;
        expect(found.name).toBe(text);
        expect(text).not.toMatch(/[\p{Cc}]/u);
      }),
    );
  });
});
