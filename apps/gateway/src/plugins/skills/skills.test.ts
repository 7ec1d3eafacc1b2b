// Skills that plugins bring, from the folder to the model that reads them.
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { systemText } from "../../testing/memory.ts";
import { obedientModel, run } from "../../testing/obedient-model.ts";
import { startPluginGateway, writePlugin } from "../../testing/plugins.ts";
import { findSkills } from "./find-skills.ts";

const skill = (head: string, body = "Do it.") => `---\n${head}\n---\n\n${body}\n`;
const TIDES = skill(
  "name: tides\ndescription: >\n  When the water\n  comes.",
  "Read {baseDir}/tables.md first.",
);

async function plugins(
  given: Record<string, { files: Record<string, string>; skills?: string[]; code?: string }>,
  config: object = {},
) {
  const home = await temporaryHome();
  const paths = Object.entries(given).map(([id, { files, skills = ["skills"], code }]) =>
    writePlugin(join(home, "sources", id), {
      ...{ id, files, ...(code !== undefined && { code }) },
      manifest: { skills, kind: code === undefined ? undefined : "context-engine" },
    }),
  );
  const { server, config: model } = await obedientModel();
  const started = await startPluginGateway(
    { ...model, plugins: { load: { paths }, ...config } },
    home,
  );
  return { ...started, home, paths, system: () => systemText(server.requests.at(-1)!) };
}

describe("a plugin's skills", () => {
  it("are named in the prompt, and read with their files by a tool", async () => {
    const { say, system, paths } = await plugins({
      sea: {
        files: {
          "skills/tides/SKILL.md": TIDES,
          "skills/tides/tables.md": "High at six.",
          "skills/tides/more/notes.md": "None.",
        },
      },
    });
    const told = await say(run("skill", { name: "tides" }));
    expect(system()).toContain("- tides: When the water comes.");
    const folder = join(paths[0]!, "skills/tides");
    expect(JSON.stringify(told.reply)).toContain(
      `Read ${folder}/tables.md first.\\n\\nFiles of this skill, in ${folder}: more/notes.md, tables.md`,
    );
    const file = await say(run("skill", { name: "tides", file: "tables.md" }));
    expect(JSON.stringify(file.reply)).toContain("High at six.");
    const wrong = await say(run("skill", { name: "tide" }));
    expect(JSON.stringify(wrong.reply)).toContain('no skill \\"tide\\"; there is: tides.');
    const outside = await say(run("skill", { name: "tides", file: "../../package.json" }));
    expect(JSON.stringify(outside.reply)).toContain("has no file");
  });

  it("cost nothing where there are none: neither a line nor a tool", async () => {
    const { say, system } = await plugins({ sea: { files: {}, skills: [] } });
    const { report } = await say(run("skill", { name: "tides" }));
    expect(report.toolCalls).toMatchObject([{ name: "skill", isError: true }]);
    expect(report.modelCalls[0]!.tools.map(({ source }) => source)).not.toContainEqual(
      expect.objectContaining({ name: "skill" }),
    );
    expect(system()).not.toContain("Skills are");
  });

  it("of an engine's plugin are told of where that engine answers", async () => {
    const engine = `export default { register(api) { api.registerContextEngine("sea", () => ({
      info: { id: "sea", name: "Sea" }, ingest: async () => ({ ingested: true }),
      assemble: async ({ messages }) => ({ messages, estimatedTokens: 0 }),
      compact: async () => ({ ok: true, compacted: false }) })); } };`;
    const sea = { files: { "skills/SKILL.md": TIDES }, code: engine };
    const beside = await plugins({ sea });
    await beside.say("hello");
    expect(beside.system()).not.toContain("tides");
    const chosen = await plugins({ sea }, { slots: { contextEngine: "sea" } });
    await chosen.say("hello");
    expect(chosen.system()).toContain("- tides:");
  });

  it("whose name is taken are left out, and all are in the record", async () => {
    const files = { "skills/tides/SKILL.md": TIDES };
    const { plugins: host, say, system } = await plugins({ sea: { files }, lake: { files } });
    expect(host.records().map(({ id, skills }) => [id, skills])).toEqual([
      ["sea", ["tides"]],
      ["lake", []],
    ]);
    expect(host.records()[1]!.diagnostics).toEqual([
      { level: "warning", message: 'skill "tides" belongs to plugin "sea"; it is left out' },
    ]);
    await say("hello");
    expect(system().split("- tides:")).toHaveLength(2);
  });
});

it("what is no skill is named, and what is one is found at any depth", async () => {
  const root = realpathSync(await temporaryHome());
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, "SKILL.md"), text);
  };
  write("skills/a/deep", skill("description: Named by its folder."));
  write("skills/b", skill("name: two words\ndescription: x"));
  write("skills/c", skill("name: silent"));
  write("skills/d", skill("name: deep\ndescription: Again."));
  write("skills/e", skill("name: people\ndescription: x\ndisable-model-invocation: true"));
  write("skills/node_modules/f", skill("name: f\ndescription: x"));
  mkdirSync(join(root, "skills/g"));
  symlinkSync("/etc/hostname", join(root, "skills/g/SKILL.md"));
  write("skills/h", skill("name: h\ndescription: x", "y".repeat(300_000)));
  expect(findSkills(root, ["skills", "absent", "..", "skills/d"])).toEqual({
    skills: [
      { name: "deep", description: "Named by its folder.", folder: join(root, "skills/a/deep") },
    ],
    problems: [
      `a skill's name must be a word; "two words" is left out`,
      'the skill "silent" does not say what it is for; it is left out',
      'it brings the skill "deep" twice; the first is used',
      `the skill in ${join(root, "skills/h")} is larger than 256 KiB; it is left out`,
      "its manifest names the skills folder absent, which it does not have",
      "its manifest names the skills folder .., which it does not have",
      'it brings the skill "deep" twice; the first is used',
    ],
  });
});
