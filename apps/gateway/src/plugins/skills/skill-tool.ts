// Tells models of the skills that plugins bring, and lets them read these.
import { readdir, realpath } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { readFrontMatter } from "../../text/front-matter.ts";
import { defineTool, type Tool, ToolRefusal } from "../../tools/tool.ts";
import { readText } from "../../tools/workspace-files.ts";
import { isInside } from "../find/manifest.ts";
import { MOST_SKILL_BYTES, SKILL_FILE, type Skill } from "./find-skills.ts";

export interface OwnedSkill extends Skill {
  pluginId: string;
}

export const SKILL_TOOL = "skill";

const MOST_FILES_NAMED = 50;

/** Pure. Of the system prompt; undefined = there are none. */
export function describeSkills(skills: readonly Skill[]): string | undefined {
  if (skills.length === 0) return undefined;
  return [
    `Skills are instructions for certain work. Before you do what one of these is for, read it with the tool "${SKILL_TOOL}":`,
    ...skills.map(({ name, description }) => `- ${name}: ${description}`),
  ].join("\n");
}

/** None where there is nothing to read. */
export function skillTools(skills: readonly Skill[]): Tool[] {
  if (skills.length === 0) return [];
  return [
    defineTool({
      name: SKILL_TOOL,
      description: "Shows the instructions of a skill, or a file that they speak of.",
      parameters: z.object({
        name: z.string().min(1).describe("The skill, as the system prompt names it."),
        file: z.string().min(1).optional().describe("A file of its folder. Default: SKILL.md."),
      }),
      readOnly: true,
      async run({ name, file }) {
        const skill = skills.find((each) => each.name === name);
        if (skill === undefined) throw new ToolRefusal(noSuchSkill(name, skills));
        return file === undefined ? readSkill(skill) : readSkillFile(skill, file);
      },
    }),
  ];
}

const noSuchSkill = (name: string, skills: readonly Skill[]) =>
  `There is no skill "${name}"; there is: ${skills.map((each) => each.name).join(", ")}.`;

async function readSkill(skill: Skill): Promise<string> {
  const { body } = readFrontMatter(await readSkillFile(skill, SKILL_FILE));
  const files = (await filesOf(skill.folder)).filter((file) => file !== SKILL_FILE);
  // A skill speaks of its own folder by this name.
  const text = body.replaceAll("{baseDir}", skill.folder).trim();
  if (files.length === 0) return text;
  const named = files.slice(0, MOST_FILES_NAMED);
  const more = files.length > named.length ? ", and more" : "";
  return `${text}\n\nFiles of this skill, in ${skill.folder}: ${named.join(", ")}${more}`;
}

async function readSkillFile({ name, folder }: Skill, file: string): Promise<string> {
  const real = await realpath(resolve(folder, file)).catch(() => undefined);
  if (real === undefined || !isInside(folder, real))
    throw new ToolRefusal(`The skill "${name}" has no file "${file}".`);
  const read = await readText(real, MOST_SKILL_BYTES);
  if (read === undefined) throw new ToolRefusal(`"${file}" of the skill "${name}" is no text.`);
  if (read.size <= MOST_SKILL_BYTES) return read.text;
  return `${read.text}\n\n(The first ${MOST_SKILL_BYTES / 1024} KiB of ${read.size} bytes.)`;
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}
