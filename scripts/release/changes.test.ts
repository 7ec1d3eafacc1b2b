import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { changesWithoutChangeset, namedBy, sentenceFor } from "./changes.ts";
import { releaseOrder, workspacePackages } from "./packages.ts";
import { changesetsIn } from "./publish.ts";

const MANIFEST = {
  name: "@clew/one",
  version: "1.0.0",
  exports: { ".": "./dist/index.js" },
  dependencies: { zod: "catalog:" },
  devDependencies: { vitest: "catalog:" },
};

describe("a change without a changeset", () => {
  let root: string;
  const git = (...args: string[]) =>
    execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "commit.gpgsign=false", ...args],
      {
        cwd: root,
        stdio: "ignore",
      },
    );
  const write = (path: string, content: string | object) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(
      join(root, path),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  };
  const commit = () => {
    git("add", "-A");
    git("commit", "-q", "-m", "work");
  };
  const found = () => changesWithoutChangeset(root, "main").map(({ name }) => name);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "clew-changes-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    git("init", "-q", "-b", "main");
    write("pnpm-workspace.yaml", "catalog:\n  zod: 4.0.0\n  vitest: 5.0.0\n");
    write("packages/one/package.json", MANIFEST);
    write("packages/one/src/index.ts", "export const one = 1;\n");
    write("packages/one/src/index.test.ts", "");
    write("apps/hidden/package.json", { name: "@clew/hidden", version: "1.0.0", private: true });
    write("apps/hidden/src/index.ts", "");
    write(".changeset/early.md", '---\n"@clew/one": minor\n---\n\nEarlier work.\n');
    commit();
    git("switch", "-q", "-c", "branch");
  });

  it("of a source file is found, committed or not", () => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    expect(found()).toEqual(["@clew/one"]);
    commit();
    expect(found()).toEqual(["@clew/one"]);
  });

  it("of a new file that is not yet known to git is found", () => {
    write("packages/one/src/two.ts", "");
    expect(found()).toEqual(["@clew/one"]);
  });

  it("is none when a changeset of this branch names the package", () => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    write(".changeset/late.md", '---\n"@clew/one": patch\n---\n\nOne is two.\n');
    expect(found()).toEqual([]);
  });

  it("is none when this branch edited a changeset that names the package", () => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    write(".changeset/early.md", '---\n"@clew/one": minor\n---\n\nEarlier work, and this.\n');
    expect(found()).toEqual([]);
  });

  it("is none when a changeset says that nobody can notice it", () => {
    write("packages/one/src/index.ts", "export const one = 1 as const;\n");
    write(".changeset/late.md", '---\n"@clew/one": none\n---\n\nTypes only.\n');
    expect(found()).toEqual([]);
  });

  it.each([
    ["has no text", '---\n"@clew/one": patch\n---\n\n'],
    ["names no bump there is", '---\n"@clew/one": banana\n---\n\nText.\n'],
  ])("is found when the changeset %s", (_, text) => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    write(".changeset/late.md", text);
    expect(found()).toEqual(["@clew/one"]);
  });

  it("is found when only the spaces of an earlier changeset changed", () => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    write(".changeset/early.md", '---\n"@clew/one": minor\n---\n\nEarlier  work.\n\n');
    expect(found()).toEqual(["@clew/one"]);
  });

  it("is found when the changeset names another package", () => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    write(".changeset/late.md", '---\n"@clew/hidden": patch\n---\n\nSomething else.\n');
    expect(found()).toEqual(["@clew/one"]);
  });

  it.each([
    ["a test", "packages/one/src/index.test.ts", "// more\n"],
    ["a fixture", "packages/one/src/__fixtures__/a.json", "{}"],
    ["a test helper that is not published", "packages/one/src/testing/help.ts", ""],
    ["a README", "packages/one/README.md", "# One\n"],
    ["a private package", "apps/hidden/src/index.ts", "// more\n"],
  ])("of %s is none", (_, path, content) => {
    write(path, content);
    expect(found()).toEqual([]);
  });

  it("of a test helper that is an entry point is found", () => {
    const exports = { ...MANIFEST.exports, "./testing": "./dist/testing.js" };
    git("switch", "-q", "main");
    write("packages/one/package.json", { ...MANIFEST, exports });
    commit();
    git("switch", "-q", "-c", "other");
    write("packages/one/src/testing/help.ts", "");
    expect(found()).toEqual(["@clew/one"]);
  });

  it("of the manifest counts when it is published", () => {
    write("packages/one/package.json", { ...MANIFEST, devDependencies: {}, scripts: { a: "b" } });
    expect(found()).toEqual([]);
    write("packages/one/package.json", { ...MANIFEST, engines: { node: ">=30" } });
    expect(found()).toEqual(["@clew/one"]);
  });

  it("of a version in the catalog counts where the package depends on it", () => {
    write("pnpm-workspace.yaml", "catalog:\n  zod: 4.0.0\n  vitest: 5.1.0\n");
    expect(found()).toEqual([]);
    write("pnpm-workspace.yaml", "catalog:\n  zod: 4.1.0\n  vitest: 5.1.0\n");
    expect(found()).toEqual(["@clew/one"]);
  });

  it("is none in the change that gives a package its new version", () => {
    rmSync(join(root, ".changeset/early.md"));
    write("packages/one/package.json", { ...MANIFEST, version: "1.1.0" });
    write("packages/one/src/index.ts", "export const one = 2;\n");
    expect(found()).toEqual([]);
  });

  it("compares with where the branch left main, not with what main became", () => {
    git("switch", "-q", "main");
    write("packages/one/src/index.ts", "export const one = 3;\n");
    commit();
    git("switch", "-q", "branch");
    expect(found()).toEqual([]);
  });

  it("is told in one sentence with the package and a file", () => {
    write("packages/one/src/index.ts", "export const one = 2;\n");
    write("packages/one/src/two.ts", "");
    expect(changesWithoutChangeset(root, "main").map(sentenceFor)).toEqual([
      '@clew/one changed (packages/one/src/index.ts and 1 more) and no changeset of this branch names it; write one with "pnpm changeset", or name it with "none" when nobody can notice the change.',
    ]);
  });
});

describe("a changeset", () => {
  it.each([
    ['---\n"@clew/one": minor\n"@clew/two": none\n---\n\nText.\n', ["@clew/one", "@clew/two"]],
    ["---\r\n'@clew/one': patch\r\n---\r\n\r\nText.\r\n", ["@clew/one"]],
    ["---\n---\n\nNothing to release.\n", []],
    ['---\n"@clew/one": patch\n---\n', []],
    ['---\n"@clew/one": banana\n"@clew/two": patch\n---\n\nText.\n', ["@clew/two"]],
    ["no front matter", []],
  ])("%j names %j", (text, names) => {
    expect(namedBy(text)).toEqual(names);
  });
});

describe("the changesets that wait", () => {
  const waiting = changesetsIn(process.cwd()).map((file) => ({
    file,
    text: readFileSync(join(".changeset", file), "utf8"),
  }));
  const released = releaseOrder(workspacePackages(process.cwd())).map(({ name }) => name);

  it("name released packages, with a bump there is and a text for their users", () => {
    for (const { file, text } of waiting) {
      const quoted = [...text.split("---")[1]!.matchAll(/^"([^"]+)":/gm)].map(([, name]) => name);
      expect(namedBy(text), file).toEqual(quoted);
      for (const name of quoted) expect(released, file).toContain(name);
    }
  });

  it("hold no relative link, since their text moves into the packages' changelogs", () => {
    for (const { file, text } of waiting) expect(text, file).not.toMatch(/\]\((?!https?:)/);
  });
});
