// Finds the skills in the folders that a plugin's manifest names.
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { headOf } from "@clew/plugin-sdk/transcript";
import { readFrontMatter } from "../../text/front-matter.ts";
import { isInside } from "../find/manifest.ts";

/** Instructions for certain work. */
export interface Skill {
  name: string;
  /** When it is of use, in a line. */
  description: string;
  /** Absolute; SKILL.md is in it, and whatever that speaks of. */
  folder: string;
}

export interface FoundSkills {
  skills: Skill[];
  /** One sentence each, without the plugin's id. */
  problems: string[];
}

export const SKILL_FILE = "SKILL.md";
export const MOST_SKILL_BYTES = 256 * 1024;
const MOST_DEEP = 6;
const MOST_SKILLS = 100;
const DESCRIPTION_CHARS = 500;

/** Each folder is a skill, or holds some, at most six folders deep. */
export function findSkills(root: string, declared: readonly string[] = []): FoundSkills {
  const found: FoundSkills = { skills: [], problems: [] };
  for (const name of declared) {
    const folder = realFolder(resolve(root, name));
    if (folder === undefined || !isInside(realpathSync(root), folder))
      found.problems.push(`its manifest names the skills folder ${name}, which it does not have`);
    else addSkills(folder, 0, found);
  }
  return found;
}

function addSkills(folder: string, depth: number, found: FoundSkills): void {
  if (found.skills.length >= MOST_SKILLS) return;
  const names = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
    a.name.localeCompare(b.name),
  );
  const file = names.find((each) => each.isFile() && each.name === SKILL_FILE);
  if (file !== undefined) addSkill(folder, found);
  if (file !== undefined || depth === MOST_DEEP) return;
  for (const each of names)
    if (each.isDirectory() && !each.name.startsWith(".") && each.name !== "node_modules")
      addSkills(join(folder, each.name), depth + 1, found);
}

function addSkill(folder: string, { skills, problems }: FoundSkills): void {
  const planned = planSkill(folder, readSkill(folder));
  if (typeof planned === "string") problems.push(planned);
  else if (planned !== null && skills.some(({ name }) => name === planned.name))
    problems.push(`it brings the skill "${planned.name}" twice; the first is used`);
  else if (planned !== null) skills.push(planned);
}

/** Pure. Or why it is none; null = a model is not to be told of it. */
function planSkill(folder: string, text: string | undefined): Skill | string | null {
  if (text === undefined)
    return `the skill in ${folder} is larger than ${MOST_SKILL_BYTES / 1024} KiB; it is left out`;
  const { values } = readFrontMatter(text);
  const name = values.get("name") ?? basename(folder);
  const description = (values.get("description") ?? "").replace(/\s+/g, " ").trim();
  if (!/^[a-z0-9][\w.-]{0,63}$/i.test(name))
    return `a skill's name must be a word; "${name.slice(0, 64)}" is left out`;
  if (description === "") return `the skill "${name}" does not say what it is for; it is left out`;
  if (values.get("disable-model-invocation") === "true") return null;
  return { name, description: headOf(description, DESCRIPTION_CHARS), folder };
}

function readSkill(folder: string): string | undefined {
  const file = join(folder, SKILL_FILE);
  return statSync(file).size > MOST_SKILL_BYTES ? undefined : readFileSync(file, "utf8");
}

function realFolder(folder: string): string | undefined {
  try {
    const real = realpathSync(folder);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
