// The chat command that tells of the database, checks it and copies it.
import { ContextEngineError, type PluginCommand } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { markDamaged } from "../store/examine.ts";
import { holdingsOfSession } from "../store/health.ts";
import { type Store, useStore } from "../store/store.ts";
import type { Stores } from "../stores.ts";
import type { Reach } from "../tools/reach.ts";
import { counted, describeStore, nothingIn } from "./describe-store.ts";
import { cannotRead, damageOf, examine } from "./examination.ts";
import { verified } from "./verify.ts";

const HELP = `/lossless status   what is kept, and where
/lossless doctor   reads every message and says which cannot be read
/lossless verify   compares everything with its hashes and names what is not as it was stored
/lossless backup   copies the database to a file beside it`;

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
  description: "what the lossless engine keeps: status, doctor, verify, backup",
  acceptsArgs: true,
  async handler({ args = "", sessionId = "", sessionKey, senderIsOwner, agentId }) {
    const word = args.trim() === "" ? "status" : args.trim();
    const given = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
    if (word === "help") return { text: HELP };
    const answer = WORDS.get(word);
    if (answer === undefined)
      return { text: `There is no "/lossless ${word.slice(0, 40)}".\n${HELP}` };
    const stores = storesOf(agentId);
    const missing = stores?.missing() ?? null;
    if (missing !== null) return { text: `${sentence(nothingIn(missing))}.` };
    try {
      const store = stores?.ofAgent() ?? reach.storeOf(given);
      const session = stores === undefined ? reach.asMet(given) : { ...given, owner: stores.owner };
      const isOwner = senderIsOwner === true;
      const behind = reach.behind(given);
      const asking = { session, isOwner, now, behind };
      return { text: store === undefined ? NOT_MET : await answer(store, asking) };
    } finally {
      stores?.release();
    }
  },
});

interface Asking {
  readonly session: OwnedSession;
  readonly isOwner: boolean;
  readonly now: () => number;
  /** Since when not all of the session is stored, a sentence. Undefined: it is. */
  readonly behind: string | undefined;
}

type Answering = (store: Store, asking: Asking) => string | Promise<string>;

const WORDS: ReadonlyMap<string, Answering> = new Map<string, Answering>([
  ["status", status],
  ["doctor", doctor],
  ["verify", verified],
  ["backup", (store, { isOwner, now }) => (isOwner ? copy(store, now()) : OWNERS_ONLY)],
]);

const NOT_MET =
  "The lossless engine has not answered in this session since the start, or ignores it.";
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const HEALING =
  "They are read again from the transcripts when their sessions go on after a restart";
const MOVE_AWAY =
  "Move the database away while the host is stopped: a new one is filled from the session files.";
const OWNERS_ONLY = "Only the owner of this host may copy the database.";

async function status(store: Store, { session, behind }: Asking): Promise<string> {
  const { messages, conversations } = await patiently(() => holdingsOfSession(store, session));
  const here = `This session: ${counted(messages, "message")} of ${counted(conversations, "conversation")}`;
  const told = `${await describeStore(store)}.\n${here}.`;
  return behind === undefined ? told : `${told}\n${behind}`;
}

async function doctor(store: Store): Promise<string> {
  const { read, broken, lost, isIndexDamaged } = await examine(store);
  const isWhole = broken.length + lost.length === 0;
  const looked = `${counted(read, "message")} looked at${isWhole ? ", all can be read" : ""}.`;
  // Nothing is written to a file whose pages are damaged.
  const heals = broken.length > 0 && lost.length === 0 && !isIndexDamaged;
  if (heals) await patiently(() => markDamaged(store, broken));
  const told = [
    looked,
    ...(broken.length === 0 ? [] : [`${cannotRead(broken)}.${heals ? ` ${HEALING}.` : ""}`]),
    ...(lost.length === 0 ? [] : [`${cannotRead(lost)}: their pages of the file are damaged.`]),
    ...(isIndexDamaged ? ["The search index is damaged: searches fail."] : []),
    ...(lost.length > 0 || isIndexDamaged ? [MOVE_AWAY] : []),
  ];
  return `${told.join(" ")}\n${await describeStore(store).catch(orDamaged)}.`;
}

function orDamaged(error: unknown): string {
  if (!ContextEngineError.is(error, "STORAGE_FAILED")) throw error;
  return error.message.replace(/\.$/, "");
}

/** The copy is what is examined: it has to serve when the database does not. */
async function copy(store: Store, now: number): Promise<string> {
  const file = `${store.path}.copy-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
  await store.copyTo(file);
  const copied = useStore(file);
  try {
    const examined = await examine(copied.store);
    const damage = damageOf(examined);
    return damage.length === 0
      ? `Copied to ${file}: ${counted(examined.read, "message")}, all can be read.`
      : `Copied to ${file}, with the damage of the database: ${damage.join("; ")}. Keep older copies; /lossless doctor says what to do.`;
  } finally {
    copied.release();
  }
}
