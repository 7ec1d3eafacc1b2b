import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishedManifest, repositoryOf } from "./manifest.mjs";
import { packFolder } from "./pack.ts";
import { type Manifest, readManifest, releaseOrder, workspacePackages } from "./packages.ts";
import { readTarball, targets } from "./tarball.ts";

const packages = workspacePackages(process.cwd());
const released = releaseOrder(packages);
const at = (url: string) => ({ repository: { url } });
const HOME = at("git+https://git.clew.test/ann/clew.git");

describe("the address of the repository", () => {
  it("is said once, in the root package.json, and nowhere else", () => {
    for (const { name, manifest } of packages)
      for (const field of ["repository", "bugs", "homepage"])
        expect(manifest[field], `${field} of ${name}`).toBeUndefined();
    expect(readManifest(process.cwd()).repository).toMatchObject({ type: "git" });
  });

  it.each([
    "git+https://github.com/OWNER/clew.git",
    "git+https://example.com/ann/clew.git",
    "git+https://git.example.org/ann/clew.git",
    "https://github.com/ann/clew",
    "",
  ])("stops a release in one sentence while it is %j", (url) => {
    expect(repositoryOf(at(url))).toEqual({
      fault: expect.stringMatching(/^Nothing can be published: [^\n]+ set it to [^\n]+\.$/),
    });
  });

  it("stops a release while it is missing", () => {
    expect(repositoryOf({})).toHaveProperty("fault", expect.stringContaining("is missing"));
  });

  it("gives every published manifest its repository, bugs and homepage", () => {
    const manifest = { name: "@clew/x", version: "1.0.0" };
    expect(publishedManifest(manifest, { root: HOME, directory: "packages/x" })).toEqual({
      ...manifest,
      repository: {
        type: "git",
        url: "git+https://git.clew.test/ann/clew.git",
        directory: "packages/x",
      },
      bugs: { url: "https://git.clew.test/ann/clew/issues" },
      homepage: "https://git.clew.test/ann/clew/tree/main/packages/x#readme",
    });
  });

  it("is left out of a packed manifest rather than invented", () => {
    const manifest = { name: "@clew/x", version: "1.0.0" };
    expect(publishedManifest(manifest, { root: {}, directory: "packages/x" })).toEqual(manifest);
  });
});

describe("a published manifest", () => {
  it("keeps no source condition, no script and no development dependency", () => {
    const manifest = {
      name: "@clew/x",
      version: "1.0.0",
      exports: { ".": { "@clew/source": "./src/index.ts", default: "./dist/index.js" } },
      imports: { "#inner": { "@clew/source": "./src/inner.ts", default: "./dist/inner.js" } },
      scripts: { build: "tsup" },
      devDependencies: { preact: "catalog:" },
    };
    expect(publishedManifest(manifest, { root: {}, directory: "packages/x" })).toEqual({
      name: "@clew/x",
      version: "1.0.0",
      exports: { ".": { default: "./dist/index.js" } },
      imports: { "#inner": { default: "./dist/inner.js" } },
    });
  });
});

describe("what is released", () => {
  it("comes after everything of ours it depends on", () => {
    const seen = new Set<string>();
    for (const { name, manifest } of released) {
      const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
      const ours = needed.filter((each) => released.some((other) => other.name === each));
      expect(ours.filter((each) => !seen.has(each))).toEqual([]);
      seen.add(name);
    }
    expect([...seen]).toContain("@clew/gateway");
  });

  it("is all that changesets may give a version", async () => {
    const config = JSON.parse(await readFile(".changeset/config.json", "utf8"));
    const hidden = packages.filter(({ manifest }) => manifest.private).map(({ name }) => name);
    expect([...config.ignore].sort()).toEqual(hidden.sort());
  });
});

describe("the tarball of", () => {
  let scratch: string;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "clew-tarballs-"));
  });
  afterAll(() => rm(scratch, { recursive: true }));

  it.each(released)("$name holds what a registry may be given", async ({ name, directory }) => {
    const { file } = await packFolder(process.cwd(), directory, scratch);
    const files = readTarball(join(scratch, file));
    const manifest = JSON.parse(files.get("package.json")!.toString()) as Manifest;
    expect(manifest.name).toBe(name);
    expect(JSON.stringify(manifest)).not.toMatch(/@clew\/source|workspace:|catalog:|example\.com/);
    expect(manifest).not.toHaveProperty("scripts");
    expect(manifest).not.toHaveProperty("devDependencies");
    expect(manifest).not.toHaveProperty("private");
    expect(targets(manifest).length).toBeGreaterThan(0);
    expect([...files.keys()].filter((path) => /\.test\.|__fixtures__|^src\//.test(path))).toEqual(
      [],
    );
  });
});
