import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isData, withoutData } from "./data-text.ts";
import { namesIn } from "./names.ts";

const hex = (index: number) => (((index + 1) * 2654435761) >>> 0).toString(16).padStart(8, "0");
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");
const bytes = (index: number) =>
  Buffer.from(Array.from({ length: 57 }, (_, at) => (index * 31 + at * 197) ** 2 % 251));

const DATA: Record<string, string> = {
  "base64 in lines": lines(9, (n) => bytes(n).toString("base64")),
  "base64 in one line": bytes(1).toString("base64").repeat(9),
  "base64 of zeros": lines(9, () => "A".repeat(76)),
  "plain hex": lines(9, (n) => hex(n).repeat(8).slice(0, 60)),
  "a hex dump": lines(9, (n) => `${hex(n)}: ${"7f45 4c46 ".repeat(8)} ................`),
  "minified code": "function a(b,c){return d.fooBar(b)+c};var e=f;".repeat(20),
  "pnpm-lock.yaml": lines(
    9,
    (n) =>
      `  p${n}@1.${n}.0:\n    resolution: {integrity: sha512-${hex(n).repeat(9)}}\n    dev: true\n`,
  ),
  "the head of pnpm-lock.yaml": lines(
    9,
    (n) => `    '@scope/p${n}':\n      specifier: 1.${n}.0\n      version: 1.${n}.0`,
  ),
  "package-lock.json": lines(
    9,
    (n) =>
      `    "node_modules/p${n}": {\n      "version": "1.${n}.0",\n      "resolved": "https://x.io/p${n}.tgz",\n      "integrity": "sha512-${hex(n)}",\n      "dependencies": {\n        "q${n}": "^1.0.0"\n      }\n    },`,
  ),
  "yarn.lock": lines(
    9,
    (n) =>
      `p${n}@^1.0.0:\n  version "1.${n}.0"\n  resolved "https://x.io/p${n}.tgz"\n  integrity sha512-${hex(n)}\n`,
  ),
  "Cargo.lock": lines(
    9,
    (n) =>
      `[[package]]\nname = "crate_${n}"\nversion = "0.${n}.1"\nsource = "registry+https://x.io"\nchecksum = "${hex(n)}"\n`,
  ),
  "go.sum": lines(9, (n) => `github.com/foo/bar${n} v1.${n}.0 h1:${hex(n)}=`),
};

const TEXT: Record<string, [text: string, names: number]> = {
  "prose with the word integrity": [
    "The referential integrity check in src/db/schema.ts fails for order_items when migration 0042_add_orders.sql runs, please look at apps/api/src/orders.ts and CVE-2024-3094 first, before anything else.",
    5,
  ],
  "folders, one on a line": [
    lines(9, (n) => `/home/user/project/packages/plugin${n}/src/components/record`),
    9,
  ],
  "names of tests": [
    lines(9, (n) => `test_user_${n}_can_login_with_valid_credentials_and_token`),
    9,
  ],
  branches: [lines(9, (n) => `feature/JIRA-12${n}4-add-new-checkout-flow-to-the-web-app`), 9],
  "symbols of many words": [lines(9, (n) => `getUserAccountAuthenticationTokenFromCache${n}`), 9],
  "ids with a prefix": [lines(9, (n) => `sess-${n}a2b3c4d-1111-2222-3333-44445555666${n}`), 9],
  "hashes of commits": [lines(9, (n) => hex(n).repeat(5)), 9],
  logfmt: [
    lines(
      5,
      (n) =>
        `level=info path=src/h${n}.ts id=req-88${n}21 ${lines(60, (k) => `k${k}=v${k}`).replace(/\n/g, " ")}`,
    ),
    10,
  ],
  "one line of SQL": [
    `INSERT INTO order_items VALUES ${lines(60, (n) => `(${n},'SKU-${1000 + n}'),`).replace(/\n/g, "")};`,
    61,
  ],
  "images with their digests": [
    lines(5, (n) => `image: ghcr.io/acme/app_${n}:1.2 # sha256:${hex(n).repeat(8)}`),
    5,
  ],
};

describe("data in a text", () => {
  it.each(Object.entries(DATA))("is %s: it names nothing", (_, text) => {
    expect(isData(text)).toBe(true);
    expect(namesIn(text)).toEqual([]);
  });

  it.each(Object.entries(DATA))("is only %s, not the request before it", (_, data) => {
    const text = `Mend src/foo/bar.ts for ABC-123, please.\n\n${data}\n\nAnd read docs/plan.md.\n`;
    expect(namesIn(text).map(({ name }) => name)).toEqual([
      "src/foo/bar.ts",
      "ABC-123",
      "docs/plan.md",
    ]);
  });

  it.each(Object.entries(TEXT))("is not %s", (_, [text, names]) => {
    expect(isData(text)).toBe(false);
    expect(namesIn(text).length).toBeGreaterThanOrEqual(names);
  });

  it("leaves every other place where it is", () => {
    const piece = fc.oneof(
      fc.constantFrom(...Object.values(DATA), ...Object.values(TEXT).map(([text]) => text)),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join("\n");
        const rest = withoutData(text);
        expect(rest).toHaveLength(text.length);
        expect([...rest].every((char, at) => char === " " || text.includes(char, at))).toBe(true);
      }),
    );
  });
});
