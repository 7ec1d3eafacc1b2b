// A gateway in a process of its own that runs turns wherever it can.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { openDatabase } from "../database.ts";
import { openPostgresStore } from "../store.ts";
import type { PostgresTranscript } from "../transcript.ts";
import { PARTS, placeOf, type TurnPart, textOf } from "./killed-turns.ts";
import { type ListLedger, SIMPLE_PORTS, said, textsOf } from "./simple-ports.ts";
import { unfencedAppend } from "./unfenced.ts";

const [url = "", address = "", sessions = "6", ttl = "600", mode = "fenced"] =
  process.argv.slice(2);
const ttlMs = Number(ttl);
const isFenced = mode === "fenced";
const say = (line: string) => void process.stdout.write(`${line}\n`);
const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms));

const store = await openPostgresStore({ url, address, ports: SIMPLE_PORTS, ttlMs, connections: 4 });
const database = openDatabase({ url, connections: 2, timeoutMs: 15_000 });
let isEnding = false;
store.alive.addEventListener("abort", () => {
  isEnding = true;
});
process.on("SIGTERM", () => {
  isEnding = true;
});
say("ready");

await Promise.all(Array.from({ length: Number(sessions) }, (_, index) => serve(index)));
// Who was thought dead has nothing to hand over.
if (!store.alive.aborted) await store.close().catch(() => {});
process.exit(0);

async function serve(session: number): Promise<void> {
  for (; !isEnding; await pause(20 + 40 * Math.random())) {
    const name = { agentId: "main", key: `session ${session}` };
    const transcript = await store.open(name).catch((error: unknown) => {
      if (ContextEngineError.is(error)) return null;
      throw error;
    });
    if (transcript === null) continue;
    await runTurns(transcript, session).catch((error: unknown) => {
      if (!ContextEngineError.is(error)) throw error;
      say(`refused ${session} ${error.code}`);
    });
    await transcript.close().catch(() => {});
  }
}

/** Some turns, from the part of one on that whoever was here before did not store. */
async function runTurns(transcript: PostgresTranscript<ListLedger>, session: number) {
  let next = placeOf(textsOf(await transcript.read({ tail: 1 }))).next;
  for (let turns = 0; turns < 10 && !(isEnding && next.part === 0); ) {
    await storePart(transcript, session, next);
    if (next.part === PARTS - 1) {
      say(`done ${session} ${next.turn}`);
      turns += 1;
    }
    next = placeOf(textOf(next)).next;
    await pause(5 + 20 * Math.random());
  }
}

async function storePart(
  transcript: PostgresTranscript<ListLedger>,
  session: number,
  at: TurnPart,
): Promise<void> {
  const text = textOf(at);
  if (!isFenced) return unfencedAppend(database, `session ${session}`, text);
  const isLast = at.part === PARTS - 1;
  const change = { kind: text };
  await transcript.appendStep({
    entries: [said(text)],
    deliveries: isLast ? [{ engineId: "a", change }] : [],
    report: isLast ? { report: { turnId: String(at.turn) }, parts: {} } : null,
  });
}
