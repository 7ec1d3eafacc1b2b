// Which thread of Codex holds a session, and how far.
import { hash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { HostSession, LogPort } from "@clew/engine-core";
import { z } from "zod";
import { makeOwnFolder } from "../../home/no-links.ts";
import { writeOwn } from "../../home/own-writes.ts";
import { fromJson, toJson } from "../../own-json.ts";

/** What a thread was begun with; where one of these differs it is another thread. */
const KeySchema = z.object({
  epoch: z.string(),
  fingerprint: z.string(),
  engine: z.string(),
  instructions: z.string(),
  tools: z.string(),
  config: z.string(),
  cwd: z.string(),
  provider: z.string(),
  /** How hard its model thinks; "" = as it does by itself. */
  effort: z.string().default(""),
});
export type ThreadKey = z.infer<typeof KeySchema>;

const StateSchema = z.discriminatedUnion("name", [
  /** No model has answered in it yet, so that nobody knows what it was given. */
  z.object({ name: z.literal("opening") }),
  /** It is being taken up again, which may be what ends Codex. */
  z.object({ name: z.literal("resuming") }),
  /** Something is being added to it. */
  z.object({ name: z.literal("adding") }),
  z.object({ name: z.literal("ready") }),
  /** A turn runs, or was killed; null = its id was not told yet. */
  z.object({ name: z.literal("running"), turnId: z.string().nullable() }),
  /** A turn ended without a reply; what it holds of it has to go. */
  z.object({ name: z.literal("failed"), turnId: z.string() }),
  z.object({ name: z.literal("stale"), why: z.string() }),
]);
export type ThreadState = z.infer<typeof StateSchema>;

const BindingSchema = z.object({
  v: z.literal(1),
  sessionKey: z.string(),
  /** Of the transcript; another one is another conversation. */
  sessionId: z.string(),
  threadId: z.string(),
  key: KeySchema,
  /** Of the engine's addition that it was begun with. */
  firstAddition: z.string(),
  /** Of the one that it was told last. */
  addition: z.string(),
  /** Id of the newest message that it holds; null = none that has one. */
  through: z.string().nullable(),
  /** Ids of the turn that ended with it, which a view may have in another order. */
  withIt: z.array(z.string()).default([]),
  /** Tokens of all its calls so far, as Codex counts them. */
  totalTokens: z.number(),
  /** True: Codex made it smaller by itself. Absent: it did not. */
  isCompacted: z.literal(true).optional(),
  state: StateSchema,
});
export type Binding = z.infer<typeof BindingSchema>;

export interface Bindings {
  /** Null: none, or it cannot be read. */
  read(session: Pick<HostSession, "agentId" | "sessionKey">): Promise<Binding | null>;
  /** Durable when it resolves. */
  save(session: HostSession, binding: Binding): Promise<void>;
  /** Changes the state of the one that there is, after everything that was asked before. */
  setState(session: Pick<HostSession, "agentId" | "sessionKey">, state: ThreadState): Promise<void>;
  forget(session: Pick<HostSession, "agentId" | "sessionKey">): Promise<void>;
}

/** A session is open in one process only, so nobody else writes its file. */
export function createBindings({ home, log }: { home: string; log: LogPort }): Bindings {
  const fileOf = ({ agentId, sessionKey }: Pick<HostSession, "agentId" | "sessionKey">) =>
    join(
      ...[home, "agents", agentId, "harness", "codex-threads"],
      `${hash("sha256", sessionKey).slice(0, 32)}.json`,
    );
  /** One write after the other. */
  const lanes = new Map<string, Promise<unknown>>();
  const inLane = <Result>(file: string, work: () => Promise<Result>): Promise<Result> => {
    const done = (lanes.get(file) ?? Promise.resolve()).then(work, work);
    const settled = done.catch(() => {});
    lanes.set(file, settled);
    void settled.then(() => {
      if (lanes.get(file) === settled) lanes.delete(file);
    });
    return done;
  };
  const load = async (file: string, sessionKey: string): Promise<Binding | null> => {
    try {
      const binding = BindingSchema.parse(fromJson(await readFile(file, "utf8")));
      return binding.sessionKey === sessionKey ? binding : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        log.warn(`${file} cannot be read, so its session gets another thread of Codex.`);
      return null;
    }
  };
  const store = async (file: string, binding: Binding) => {
    await makeOwnFolder(home, dirname(file));
    await writeOwn(file, toJson(binding));
  };
  return {
    read(session) {
      const file = fileOf(session);
      return inLane(file, () => load(file, session.sessionKey));
    },
    save(session, binding) {
      const file = fileOf(session);
      return inLane(file, () => store(file, binding));
    },
    setState(session, state) {
      const file = fileOf(session);
      return inLane(file, async () => {
        const binding = await load(file, session.sessionKey);
        if (binding !== null) await store(file, { ...binding, state });
      });
    },
    forget(session) {
      const file = fileOf(session);
      return inLane(file, () => rm(file, { force: true }));
    },
  };
}
