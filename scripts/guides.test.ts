import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  OLDEST_PLUGIN_API_VERSION,
  PLUGIN_API_VERSION,
} from "../apps/gateway/src/plugins/find/compatibility.ts";
import vitestConfig from "../vitest.config.ts";
import { withIncludes } from "./generated.ts";
import { trackedFiles } from "./tracked-files.ts";

const run = promisify(execFile);

/** The targets of a Markdown file's links, code left out. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
}

/** The anchors GitHub gives to a file's headings. */
const anchorsOf = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

function leadsSomewhere(from: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [path, anchor] = link.split("#") as [string, string | undefined];
  const file = path === "" ? from : join(dirname(from), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsOf(readFileSync(file, "utf8")).includes(anchor);
}

describe("the documentation", () => {
  it("has no link that leads nowhere", () => {
    const dead = trackedFiles()
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) =>
        linksOf(readFileSync(path, "utf8"))
          .filter((link) => !leadsSomewhere(path, link))
          .map((link) => `${path}: ${link}`),
      );
    expect(dead).toEqual([]);
  });

  it("notices a link that leads nowhere", () => {
    expect(linksOf("[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```")).toEqual(["b.md"]);
    expect(leadsSomewhere("docs/README.md", "no-such-file.md")).toBe(false);
    expect(leadsSomewhere("docs/README.md", "concepts.md#no-such-heading")).toBe(false);
    expect(leadsSomewhere("docs/README.md", "concepts.md#the-turn-report")).toBe(true);
  });

  it("prints a whole source file after an include mark, and nothing else changes", () => {
    const guide = "before\n\n<!-- include: a.ts -->\n```ts\nold\n```\n\n```ts\nstays\n```\n";
    expect(withIncludes(guide, (file) => `// ${file}\n`)).toBe(guide.replace("old", "// a.ts"));
  });
});

describe("the plugin author guide", () => {
  const guide = readFileSync("docs/plugin-author-guide.md", "utf8");

  it("names the versions of the plugin API that are offered", () => {
    const offered = `${OLDEST_PLUGIN_API_VERSION} to ${PLUGIN_API_VERSION}`;
    expect(guide.replaceAll(/\s+/g, " ")).toContain(`This Clew offers ${offered}`);
  });

  it("shows an engine that passes the conformance kit", async () => {
    const engine = /```ts\n(import \{ type AgentMessage, type ContextEngine,[\s\S]*?)```/.exec(
      guide,
    )![1]!;
    const scratch = await mkdtemp("packages/plugin-sdk/.guide-");
    try {
      await writeFile(join(scratch, "engine.ts"), engine);
      const check = [
        `import { checkEngine } from "@clew/plugin-sdk/testing";`,
        `import plugin, { createEngine } from "./engine.ts";`,
        `const { failed, passed } = await checkEngine(createEngine);`,
        `console.log(JSON.stringify({ id: plugin.id, failed, ran: passed > 20 }));`,
      ];
      await writeFile(join(scratch, "check.ts"), check.join("\n"));
      const { stdout } = await run(process.execPath, [
        "--conditions=@clew/source",
        join(scratch, "check.ts"),
      ]);
      expect(JSON.parse(stdout)).toEqual({ id: "newest", failed: 0, ran: true });
    } finally {
      await rm(scratch, { recursive: true });
    }
  });

  it("points hosts to the file that its build writes", () => {
    const [manifest, tsconfig] = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map((match) =>
      JSON.parse(match[1]!),
    );
    const { outDir } = tsconfig.compilerOptions;
    expect(manifest.openclaw.extensions).toEqual([`./${outDir}/engine.js`]);
    expect(manifest.files).toContain(outDir);
  });
});

describe("the test projects", () => {
  it("are all folders that have tests", () => {
    // A workspace of its own is tried by a command of its own.
    const others = globSync("apps/*/pnpm-workspace.yaml").map((path) => dirname(path));
    const projects = [
      ...vitestConfig.test!.projects!.flatMap((glob) => globSync(glob as string)),
      ...others,
    ];
    const untested = trackedFiles().filter(
      (path) =>
        path.endsWith(".test.ts") && !projects.some((project) => path.startsWith(`${project}/`)),
    );
    expect(untested).toEqual([]);
  });
});
