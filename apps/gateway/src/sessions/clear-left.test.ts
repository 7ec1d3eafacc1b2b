import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { acquireLock, type LockOutcome } from "../locks/lock.ts";
import { temporaryHome } from "../testing/home.ts";
import { clearLeft } from "./clear-left.ts";
import { agentPaths } from "./paths.ts";

const dead = (token: string) =>
  JSON.stringify({ token, pid: 2 ** 22 + 1, started: "once", host: hostname(), since: "2026" });

it("locks, drafts and lists of killed processes are cleared away, and nobody else's", async () => {
  const home = await temporaryHome();
  const { sessions } = agentPaths(home, "main");
  await mkdir(sessions, { recursive: true });
  const file = (name: string) => join(sessions, name);
  await writeFile(file("a.jsonl.lock"), dead("a"));
  await writeFile(file("b.jsonl.lock.draft-0b"), dead("b"));
  await writeFile(file("unreadable.jsonl.lock"), "?");
  for (const name of ["sessions.json.123", "sessions.json.456"]) await writeFile(file(name), "{}");
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(file("sessions.json.123"), hourAgo, hourAgo);
  await acquireLock(file("mine.jsonl.lock"));
  expect(await clearLeft(home, new AbortController().signal)).toBe(2);
  expect((await readdir(sessions)).sort()).toEqual([
    ...["mine.jsonl.lock", "sessions.json.456", "unreadable.jsonl.lock"],
  ]);
});

it("whoever wants to open a session while its dead lock is cleared away gets it", async () => {
  const home = await temporaryHome();
  const { sessions } = agentPaths(home, "main");
  await mkdir(sessions, { recursive: true });
  const files = Array.from({ length: 200 }, (_, index) => join(sessions, `${index}.jsonl.lock`));
  for (const [index, file] of files.entries()) await writeFile(file, dead(`${index}`));
  const clearing = clearLeft(home, new AbortController().signal);
  // In the order in which they are cleared, and about as fast.
  const outcomes: LockOutcome[] = [];
  for (const name of await readdir(sessions))
    outcomes.push(await acquireLock(join(sessions, name)));
  await clearing;
  expect(outcomes.filter(({ held }) => !held)).toEqual([]);
});

it("a lock that was only to be cleared away when its process was killed is taken over", async () => {
  const home = await temporaryHome();
  const file = join(home, "a.jsonl.lock");
  await writeFile(file, JSON.stringify({ ...JSON.parse(dead("a")), passing: true }));
  expect(await acquireLock(file)).toMatchObject({ held: true });
});
