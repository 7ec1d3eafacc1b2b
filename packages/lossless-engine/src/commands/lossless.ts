// The chat command that tells of the database, checks it and copies it.
import type { PluginCommand } from "@clew/plugin-sdk/core";
import { backUp, backupsBeside, describeBackups } from "../operating/backups.ts";
import { counted, describeStore, nothingIn } from "../operating/describe-store.ts";
import { mend } from "../operating/mend.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { holdingsOfSession } from "../store/health.ts";
import type { Store } from "../store/store.ts";
import type { Stores } from "../stores.ts";
import type { Reach } from "../tools/reach.ts";
import { verified } from "./verify.ts";

const HELP = `/lossless status    what is kept, and where
/lossless doctor    reads every message and says which cannot be read
/lossless verify    compares everything with its hashes and names what is not as it was stored
/lossless backup    copies the database to a file beside it, and checks the copy
/lossless backups   lists the copies beside the database
/lossless restore   how a copy takes the database's place`;

/** What the command works with. */
export interface CommandParts {
  readonly reach: Reach;
  /** The database of an agent. Undefined: the host does not say where its agents keep theirs. */
  readonly storesOf?: ((agentId: string | undefined) => Stores | undefined) | undefined;
  /** The time, ms since the epoch. Absent: the system's. */
  readonly now?: (() => number) | undefined;
}

/** It needs no session in which anything was said: of the agent's database it tells at once. */
export const losslessCommand = ({
  reach,
  storesOf = () => undefined,
  now = Date.now,
}: CommandParts): PluginCommand => ({
  name: "lossless",
  description: "what the lossless engine keeps: status, doctor, verify, backup, restore",
  acceptsArgs: true,
  async handler({ args = "", sessionId = "", sessionKey, senderIsOwner, agentId }) {
    const word = args.trim() === "" ? "status" : args.trim();
    const given = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
    if (word === "help") return { text: HELP };
    const answer = WORDS.get(word);
    if (OWNERS.has(word) && senderIsOwner !== true) return { text: OWNERS_ONLY };
    if (answer === undefined)
      return { text: `There is no "/lossless ${word.slice(0, 40)}".\n${HELP}` };
    const stores = storesOf(agentId);
    const missing = stores?.missing() ?? null;
    if (missing !== null) return { text: `${sentence(nothingIn(missing))}.` };
    try {
      const store = stores?.ofAgent() ?? reach.storeOf(given);
      const session = stores === undefined ? reach.asMet(given) : { ...given, owner: stores.owner };
      const behind = reach.behind(given);
      const asking = { session, now, behind };
      return { text: store === undefined ? NOT_MET : await answer(store, asking) };
    } finally {
      stores?.release();
    }
  },
});

interface Asking {
  readonly session: OwnedSession;
  readonly now: () => number;
  /** Since when not all of the session is stored, a sentence. Undefined: it is. */
  readonly behind: string | undefined;
}

type Answering = (store: Store, asking: Asking) => string | Promise<string>;

const WORDS: ReadonlyMap<string, Answering> = new Map<string, Answering>([
  ["status", status],
  ["doctor", async (store) => (await mend(store)).text],
  ["verify", verified],
  ["backup", async (store, { now }) => (await backUp(store, { now: now() })).text],
  ["backups", ({ path }) => describeBackups(path, backupsBeside(path))],
  ["restore", ({ path }) => RESTORE(path)],
]);

/** Words that only the owner of the host may say. */
const OWNERS: ReadonlySet<string> = new Set(["backup", "backups", "restore"]);

const NOT_MET =
  "The lossless engine has not answered in this session since the start, or ignores it.";
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const OWNERS_ONLY = "Only the owner of this host may copy the database, or replace it.";
const RESTORE = (path: string) =>
  `A database that is in use is not replaced: stop the gateway, then run clew lossless restore FILE; clew lossless backups lists the copies of ${path}.`;

async function status(store: Store, { session, behind }: Asking): Promise<string> {
  const { messages, conversations } = await patiently(() => holdingsOfSession(store, session));
  const here = `This session: ${counted(messages, "message")} of ${counted(conversations, "conversation")}`;
  const told = `${await describeStore(store)}.\n${here}.`;
  return behind === undefined ? told : `${told}\n${behind}`;
}
