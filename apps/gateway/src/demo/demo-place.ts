// Where the demo session is, and whether a home is to have one.
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeOwn } from "../home/own-writes.ts";
import { agentFolder } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";

/** An agent of its own: nothing of it is counted, shown or searched as a person's. */
export const DEMO_AGENT = "demo";
export const DEMO_KEY = `agent:${DEMO_AGENT}:main`;

/** By whose rules and prices it is played; nobody asks it anything. */
export const DEMO_MODEL = "anthropic/claude-sonnet-4-5";

/** What people and reports must not take for somebody's session. */
export const isDemo = ({ key }: { key: string }): boolean => key.startsWith(`agent:${DEMO_AGENT}:`);

/** The short name by which commands know the demo where no session of a person has it. */
const DEMO_NAME = "demo";

/** Pure, but for looking. What is meant by a session's name: "demo" is the demo's. */
export async function namedSession(home: string, name: string): Promise<string> {
  if (name !== DEMO_NAME || (await demoState(home)) !== "made") return name;
  const own = await createSessionStore({ home }).find(name);
  return own === null ? DEMO_KEY : name;
}

const markFile = (home: string): string => join(home, "demo.json");

/** That a demo was made, or removed: it is not made by itself again. */
export async function markDemo(home: string, state: "made" | "removed"): Promise<void> {
  await writeOwn(markFile(home), `${JSON.stringify({ v: 1, state })}\n`);
}

/** "none": there never was one. "other": the folder is a person's own agent of that name. */
export async function demoState(home: string): Promise<"none" | "made" | "removed" | "other"> {
  const mark = await readFile(markFile(home), "utf8").catch(() => null);
  const isThere = existsSync(agentFolder(home, DEMO_AGENT));
  if (mark === null) return isThere ? "other" : "none";
  return mark.includes('"removed"') || !isThere ? "removed" : "made";
}

/** In a home in which nobody has said anything yet, once. */
export async function wantsDemo(home: string): Promise<boolean> {
  return (
    (await demoState(home)) === "none" && (await createSessionStore({ home }).list()).length === 0
  );
}

/**
 * False: there was none. What was left half made goes, too. Throws SESSION_LOCKED while somebody
 * writes to it.
 */
export async function removeDemo(home: string): Promise<boolean> {
  const state = await demoState(home);
  if (state === "made") await createSessionStore({ home }).remove(DEMO_KEY);
  const left = (await readdir(home).catch(() => [])).filter((name) => name.startsWith(".demo-"));
  for (const name of left) await rm(join(home, name), { recursive: true, force: true });
  if (state === "other") return false;
  await rm(agentFolder(home, DEMO_AGENT), { recursive: true, force: true });
  await markDemo(home, "removed");
  return state === "made";
}
