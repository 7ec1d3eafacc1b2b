// Which session of a program goes on, and what it was begun with.
import { hash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { HostSession, LogPort } from "@clew/engine-core";
import { z } from "zod";
import { makeOwnFolder } from "../../home/no-links.ts";
import { writeOwn } from "../../home/own-writes.ts";
import { fromJson, toJson } from "../../own-json.ts";

/** Where one of these is another one, it is another session. */
const KeySchema = z.object({
  /** Of the transcript. */
  sessionId: z.string(),
  cwd: z.string(),
  version: z.string(),
  /** Hash. */
  instructions: z.string(),
  provider: z.string(),
});
export type CliKey = z.infer<typeof KeySchema>;

const UsageSchema = z.object({
  ...{ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() },
  totalTokens: z.number(),
});

const BoundSchema = z.object({
  v: z.literal(1),
  sessionKey: z.string(),
  key: KeySchema,
  ref: z.string(),
  /** Of all its turns so far; null = it does not count them together. */
  total: UsageSchema.nullable(),
  /** Id of the first stored message that it was handed. Absent: not known. */
  knowsFrom: z.string().optional(),
  /** Why it must not go on; null = it may. */
  over: z.string().nullable(),
  /** Id of the newest message that it holds. Absent: not known. */
  through: z.string().optional(),
});
/** What is known of a session of the program's. */
export type CliBound = z.infer<typeof BoundSchema>;

const CHANGES: Record<keyof CliKey, string> = {
  sessionId: "the conversation is a new one",
  cwd: "its folder is another one",
  version: "the program's version is another one",
  instructions: "its instructions changed",
  provider: "its model's provider is another one",
};

/**
 * Pure. `before`: the newest message of the transcript; null = there is none. `reason`: why nothing
 * of it is known; null = there is nothing to be known.
 */
export function planSession(
  bound: CliBound | null,
  { key, before }: { key: CliKey; before: string | null },
): { kind: "resume"; bound: CliBound } | { kind: "new"; reason: string | null } {
  if (bound === null)
    return { kind: "new", reason: before === null ? null : "it ran no turn of this one yet" };
  if (bound.over !== null) return { kind: "new", reason: bound.over };
  const names = Object.keys(CHANGES) as (keyof CliKey)[];
  const changed = names.find((name) => bound.key[name] !== key[name]);
  if (changed !== undefined) return { kind: "new", reason: CHANGES[changed] };
  if (bound.through !== undefined && bound.through !== before)
    return { kind: "new", reason: "it was not there when more was said" };
  return { kind: "resume", bound };
}

type Named = Pick<HostSession, "agentId" | "sessionKey">;

export interface CliSessions {
  /** Its own folder, absolute. */
  folderOf(session: Named): string;
  /** Null: none, or it cannot be read. */
  read(session: Named): Promise<CliBound | null>;
  /** Durable when it resolves. */
  save(session: Named, bound: CliBound): Promise<void>;
  /** With everything that the program kept. */
  forget(session: Named): Promise<void>;
}

/** A session is open in one process only, so nobody else writes its files. */
export function createCliSessions(options: {
  home: string;
  id: string;
  log: LogPort;
}): CliSessions {
  const { home, id, log } = options;
  const placeOf = ({ agentId, sessionKey }: Named) =>
    join(home, "agents", agentId, "harness", id, hash("sha256", sessionKey).slice(0, 32));
  const fileOf = (session: Named) => join(placeOf(session), "session.json");
  return {
    folderOf: (session) => join(placeOf(session), "home"),
    async read(session) {
      const file = fileOf(session);
      try {
        const bound = BoundSchema.parse(fromJson(await readFile(file, "utf8")));
        return bound.sessionKey === session.sessionKey ? bound : null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT")
          log.warn(`${file} cannot be read, so its session begins anew in ${id}.`);
        return null;
      }
    },
    async save(session, bound) {
      await makeOwnFolder(home, placeOf(session));
      await writeOwn(fileOf(session), toJson(bound));
    },
    forget: (session) => rm(placeOf(session), { recursive: true, force: true }),
  };
}
