import { describe, expect, it } from "vitest";
import { tarballFaults } from "./tarball.ts";

const GOOD = {
  name: "@clew/x",
  version: "1.0.0",
  exports: {
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./drivers/*": "./dist/drivers/*.js",
  },
  dependencies: { "@clew/plugin-sdk": "^1.0.0" },
};
const FILES = ["README.md", "LICENSE", "dist/index.d.ts", "dist/index.js", "dist/drivers/a.js"];

function tarball(manifest: object, names: readonly string[] = FILES): Map<string, Buffer> {
  const files = names.map((name): [string, Buffer] => [name, Buffer.from("")]);
  return new Map([["package.json", Buffer.from(JSON.stringify(manifest))], ...files]);
}

describe("a tarball", () => {
  it("that is complete has no faults", () => {
    expect(tarballFaults(tarball(GOOD))).toEqual([]);
  });

  it.each([
    [
      "a workspace range",
      { dependencies: { "@clew/plugin-sdk": "workspace:^" } },
      "dependencies.@clew/plugin-sdk is workspace:^",
    ],
    ["a catalog range", { dependencies: { zod: "catalog:" } }, "dependencies.zod is catalog:"],
    [
      "a placeholder address",
      { repository: { url: "git+https://example.com/clew.git" } },
      "repository.url is the placeholder",
    ],
    [
      "a source condition",
      { imports: { "#a": { "@clew/source": "./dist/index.js" } } },
      '"@clew/source" leads to sources',
    ],
    ["a private package", { private: true }, "The package is private."],
    [
      "a command that was not built",
      { bin: { x: "./dist/main.js" } },
      "./dist/main.js is not in the tarball.",
    ],
    [
      "no driver at all",
      { exports: { "./wires/*": "./dist/wires/*.js" } },
      "./dist/wires/*.js is not in the tarball.",
    ],
  ])("with %s is refused", (_, change, fault) => {
    expect(tarballFaults(tarball({ ...GOOD, ...change }))).toEqual([
      expect.stringContaining(fault),
    ]);
  });

  it.each(["README.md", "LICENSE"])("without %s is refused", (missing) => {
    const rest = FILES.filter((name) => name !== missing);
    expect(tarballFaults(tarball(GOOD, rest))).toEqual([`${missing} is not in the tarball.`]);
  });
});
