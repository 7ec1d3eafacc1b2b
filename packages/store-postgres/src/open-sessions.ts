// Claims sessions for one gateway, each once at a time.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { wholeBodies } from "./blobs/whole-bodies.ts";
import { closed } from "./branch.ts";
import type { Database } from "./database.ts";
import { claimQuestion, ownerOf, type SessionRow } from "./lease.ts";
import type { ClusterNode } from "./node.ts";
import type { Ledger, StorePorts } from "./ports.ts";
import { deliveriesQuestion, newestQuestion } from "./read.ts";
import { linesOf, type SessionName } from "./reader.ts";
import { openLog, type SessionLog } from "./session-log.ts";
import { openTranscript, type PostgresTranscript } from "./transcript.ts";

/** As many as most turns need. */
const TAIL = 64;
/** What a gateway has open or opens now. */
export interface OpenSessions<Kept extends Ledger> {
  /** Throws SESSION_LOCKED, STORAGE_FAILED. */
  transcript(
    name: SessionName,
    as: { id: string; sessionKey?: string },
  ): Promise<{ transcript: PostgresTranscript<Kept>; opening: symbol }>;
  /** The same for who keeps the branch elsewhere. */
  log(name: SessionName): Promise<SessionLog<Kept>>;
  /** What is open under one name is so under another one from now on. */
  move(opening: symbol, names: { from: SessionName; to: SessionName }): void;
  keys(): string[];
  /** It is open here, and this gateway may act: nobody else has it, as far as is known. */
  holds(name: SessionName): boolean;
}

export function createOpenSessions<Kept extends Ledger>({
  ports,
  database,
  node,
  now,
}: {
  ports: StorePorts<Kept>;
  database: Database;
  node: ClusterNode;
  now: () => number;
}): OpenSessions<Kept> {
  /** What this gateway has open or opens now, and which opening that is. */
  const open = new Map<string, symbol>();
  /** Of these, openings that are over. */
  const opened = new Set<symbol>();

  /** Of openings of one session at once only the first goes on. */
  async function inPlace<Result>(
    name: SessionName,
    work: (opening: symbol) => Promise<Result>,
  ): Promise<Result> {
    const place = placeOf(name);
    const opening = Symbol(place);
    node.requireAlive();
    if (open.has(place)) throw openHere(name);
    open.set(place, opening);
    try {
      const result = await work(opening);
      if (open.get(place) === opening) opened.add(opening);
      return result;
    } catch (error) {
      forget(opening);
      throw error;
    }
  }
  const claim = (
    name: SessionName,
    { id, sessionKey = name.key }: { id: string; sessionKey?: string },
  ): Promise<{ transcript: PostgresTranscript<Kept>; opening: symbol }> =>
    inPlace(name, async (opening) => {
      const [[row], newest, lines] = await database.askTogether([
        claimQuestion({ ...name, id }, node.id),
        newestQuestion(name, TAIL),
        deliveriesQuestion(name),
      ]);
      if (row === undefined) throw lockedBy(name, await ownerOf(database, name));
      const transcript = openTranscript({
        ...{ database, ports, row, sessionKey, now, node },
        newest: newestOf(row, await wholeBodies(database, name.agentId, newest)),
        deliveries: linesOf(lines),
        onEnd: () => forget(opening),
      });
      return { transcript, opening };
    });
  function forget(opening: symbol): void {
    for (const [place, each] of open) if (each === opening) open.delete(place);
    opened.delete(opening);
  }

  async function claimLog(name: SessionName): Promise<SessionLog<Kept>> {
    return inPlace(name, async (opening) => {
      const id = crypto.randomUUID();
      const [[row], lines] = await database.askTogether([
        claimQuestion({ ...name, id }, node.id),
        deliveriesQuestion(name),
      ]);
      if (row === undefined) throw lockedBy(name, await ownerOf(database, name));
      return openLog({
        ...{ database, ports, row, sessionKey: name.key, node },
        deliveries: linesOf(lines),
        onEnd: () => forget(opening),
      });
    });
  }

  return {
    transcript: claim,
    log: claimLog,
    move(opening, { from, to }) {
      open.delete(placeOf(from));
      open.set(placeOf(to), opening);
    },
    holds(name) {
      const opening = open.get(placeOf(name));
      return opening !== undefined && opened.has(opening) && node.lives();
    },
    keys: () => [...open.keys()].map((place) => place.slice(place.indexOf("\n") + 1)),
  };
}

const placeOf = ({ agentId, key }: SessionName): string => `${agentId}\n${key}`;

/** Those of the branch: its end is the end of the log, but when it was cut short. */
function newestOf(
  { branch, head_seq: head }: SessionRow,
  newest: readonly { seq: number; body: string }[],
): string[] {
  const [from, to] = closed(branch, head).at(-1) ?? [1, 0];
  return to === head ? newest.filter(({ seq }) => seq >= from).map(({ body }) => body) : [];
}

const lockedBy = (name: SessionName, address: string | null): ContextEngineError =>
  locked(
    name,
    address === null
      ? "by a gateway that has just died; ask again"
      : `by the gateway at ${address}; close it there, or ask there`,
  );

const openHere = (name: SessionName): ContextEngineError =>
  locked(name, "by this gateway; close it there, or ask there");

const locked = ({ key }: SessionName, who: string): ContextEngineError =>
  new ContextEngineError("SESSION_LOCKED", `The session ${key} is open already, ${who}.`);
