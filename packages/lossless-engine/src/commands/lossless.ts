// The chat command that tells of the database, checks it and copies it.
import type { PluginCommand, SessionRef } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import { holdingsOfSession, markDamaged, readOn } from "../store/health.ts";
import type { Store } from "../store/store.ts";
import type { Reach } from "../tools/reach.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { counted, describeStore } from "./describe-store.ts";

const HELP = `/lossless status   what is kept, and where
/lossless doctor   reads every message and says which cannot be read
/lossless backup   copies the database to a file beside it`;

/** Numbers of broken messages that are told. */
const MOST_TOLD = 10;

/** `now` gives the time, ms since the epoch. */
export const losslessCommand = (reach: Reach, now: () => number = Date.now): PluginCommand => ({
  name: "lossless",
  description: "what the lossless engine keeps: status, doctor, backup",
  acceptsArgs: true,
  async handler({ args = "", sessionId = "", sessionKey, senderIsOwner }) {
    const word = args.trim() === "" ? "status" : args.trim();
    const session = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
    const store = reach.storeOf(session);
    if (word === "help") return { text: HELP };
    if (store === undefined)
      return {
        text: "The lossless engine has not answered in this session since the start, or ignores it.",
      };
    switch (word) {
      case "status":
        return { text: await status(store, session) };
      case "doctor":
        return { text: await doctor(store) };
      case "backup":
        return { text: senderIsOwner === true ? await copy(store, now()) : OWNERS_ONLY };
      default:
        return { text: `There is no "/lossless ${word.slice(0, 40)}".\n${HELP}` };
    }
  },
});

const HEALING =
  "They are read again from the transcripts when their sessions go on after a restart";
const OWNERS_ONLY = "Only the owner of this host may copy the database.";

async function status(store: Store, session: SessionRef): Promise<string> {
  const { messages, conversations } = await patiently(() => holdingsOfSession(store, session));
  const here = `This session: ${counted(messages, "message")} of ${counted(conversations, "conversation")}`;
  return `${await describeStore(store)}.\n${here}.`;
}

/** In pieces of time: a large database keeps nobody waiting. */
async function doctor(store: Store): Promise<string> {
  const broken: number[] = [];
  let read = 0;
  for (let from: number | null = 0; from !== null; ) {
    const start: number = from;
    const piece = await patiently(() => readOn(store, start, pieceOfTime()));
    broken.push(...piece.broken);
    read += piece.read;
    from = piece.upTo;
    await othersTurn();
  }
  if (broken.length > 0) await patiently(() => markDamaged(store, broken));
  const found =
    broken.length === 0
      ? "all can be read"
      : `${counted(broken.length, "message")} cannot: ${broken.slice(0, MOST_TOLD).join(", ")}. ${HEALING}`;
  return `${counted(read, "message")} looked at, ${found}.\n${await describeStore(store)}.`;
}

async function copy(store: Store, now: number): Promise<string> {
  const file = `${store.path}.copy-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
  await store.copyTo(file);
  return `Copied to ${file}.`;
}
