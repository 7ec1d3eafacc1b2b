// Tells an engine of turns and of files as hosts do, and checks what it answers.
import { call } from "../engine-call.ts";
import { differs } from "./content.ts";
import { AMPLE, type Stage } from "./stage.ts";
import type { Talk, ToldTurn } from "./talk.ts";
import { startOfNewest } from "./transcript.ts";

/** Of turns that failed, or that another engine answered. */
export async function catchUp(stage: Stage, talk: Talk): Promise<void> {
  const missed = talk.missed.splice(0);
  if (missed.length === 0) return;
  if (!stage.host.together || stage.commits() || missed.some(({ heartbeat }) => heartbeat)) {
    for (const turn of missed) await tell(stage, talk, turn);
    return;
  }
  await tell(stage, talk, {
    ids: missed.flatMap(({ ids, notes }) => [...notes, ...ids]),
    notes: [],
    heartbeat: false,
  });
}

/** Of the newest turn once more. */
export async function tellAgain(stage: Stage, talk: Talk): Promise<void> {
  if (talk.newest !== undefined) await tell(stage, talk, talk.newest, true);
}

/** By the methods that the engine has; `again`: it was told, and may say so. */
export async function tell(stage: Stage, talk: Talk, turn: ToldTurn, again = false): Promise<void> {
  if (stage.commits()) await commit(stage, talk, turn, again);
  else await deliver(stage, talk, turn, again);
  talk.newest = turn;
  for (const id of turn.ids) talk.owed.add(id);
  await stage.onAcknowledged?.();
}

async function deliver(stage: Stage, talk: Talk, turn: ToldTurn, again: boolean): Promise<void> {
  const { engine, host } = stage;
  const items = talk.transcript.items();
  const named = [...turn.notes, ...turn.ids].filter((id) => again || !talk.owed.has(id));
  const places = named
    .map((id) => items.findIndex((item) => item.id === id))
    .filter((at) => at >= 0);
  if (places.length === 0) return;
  const [start, end] = [Math.min(...places), Math.max(...places) + 1];
  const told = talk.transcript.history({ ...host, merges: false, newest: null }).slice(0, end);
  // A host that hands over the newest turns tells them in a list of these.
  const cut = Math.min(start, startOfNewest(told, host.newest));
  const given = told.slice(cut);
  const first = start - cut;
  const messages = structuredClone(given);
  const heartbeat = turn.heartbeat && { isHeartbeat: true };
  const isKnown = named.every((id) => talk.owed.has(id));
  if (typeof engine.afterTurn === "function")
    await call(engine, "afterTurn", {
      ...stage.ref(talk),
      ...(await stage.file(talk)),
      messages,
      prePromptMessageCount: first,
      tokenBudget: host.budget ?? AMPLE,
      runtimeContext: stage.runtime(),
      ...heartbeat,
    });
  else if (typeof engine.ingestBatch === "function") {
    const batch = { ...stage.ref(talk), messages: messages.slice(first), ...heartbeat };
    const answered: unknown = (await call(engine, "ingestBatch", batch))?.ingestedCount;
    if (!isCount(answered, end - start))
      stage.fail("ingestBatch()", `counted ${String(answered)} of ${end - start} messages`);
    if (isKnown && answered !== 0)
      stage.fail("ingestBatch()", `counted ${String(answered)} messages that it knew as new`);
  } else
    for (const message of messages.slice(first)) {
      const answered = await call(engine, "ingest", { ...stage.ref(talk), message, ...heartbeat });
      if (typeof answered?.ingested !== "boolean")
        stage.fail("ingest()", "did not answer { ingested: boolean }");
      if (isKnown && answered.ingested)
        stage.fail("ingest()", "took in a message that it knew as a new one");
      const id = talk.transcript.idOf(given[messages.indexOf(message)]!);
      if (id !== undefined && !talk.owed.has(id) && !answered.ingested) talk.denied.add(id);
    }
  if (differs(messages, given))
    stage.fail("a call that told of a turn", "changed a message it was given");
  for (const id of named) talk.owed.add(id);
}

const isCount = (value: unknown, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;

async function commit(stage: Stage, talk: Talk, turn: ToldTurn, again: boolean): Promise<void> {
  const { transcript } = talk;
  const items = transcript.items();
  const branch = transcript.branch();
  const places = turn.ids.map((id) => items.findIndex((item) => item.id === id));
  const [first, last] = [places[0]!, places.at(-1)!];
  if (first < 0 || last < 0) return;
  const key = `turn-${turn.ids[0]}`;
  const anchor = (position: number) => {
    const { entryId } = items[position]!;
    const at = branch.findIndex(({ id }) => id === entryId);
    return {
      ...{ agentId: "kit", sessionId: transcript.sessionId, sessionKey: transcript.sessionKey },
      ...{ generation: 1, entryId, rawSeq: at, effectiveParentId: branch[at - 1]?.id ?? null },
      activeMessagePosition: position,
    };
  };
  const given = transcript
    .history({ ...stage.host, merges: false, newest: null })
    .slice(first, last + 1);
  const messages = structuredClone(given);
  const answered = await call(stage.engine, "commitTurn", {
    ...stage.ref(talk),
    advancementKey: key,
    admission: { ...anchor(first), logicalTurnId: key, role: "user" },
    terminal: anchor(last),
    messages,
    runtimeContext: stage.runtime(),
    ...(turn.heartbeat && { isHeartbeat: true }),
  });
  const expected = again || talk.committed.has(key) ? "duplicate" : "committed";
  if (answered?.status !== expected)
    stage.fail(
      "commitTurn()",
      `answered "${String(answered?.status)}" to a turn that was ${expected === "committed" ? "new" : "committed before"}`,
    );
  if (differs(messages, given)) stage.fail("commitTurn()", "changed a message it was given");
  talk.committed.add(key);
}

/** How many messages of the session's file it says to have taken in. */
export async function bootstrap(stage: Stage, talk: Talk): Promise<number> {
  const { transcript } = talk;
  if (typeof stage.engine.bootstrap !== "function" || transcript.items().length === 0) return 0;
  const params = {
    ...stage.ref(talk),
    ...(await stage.file(talk)),
    runtimeContext: stage.runtime(),
  };
  const answered = await call(stage.engine, "bootstrap", params);
  if (typeof answered?.bootstrapped !== "boolean")
    stage.fail("bootstrap()", "did not answer { bootstrapped: boolean }");
  const { importedMessages: imported = 0 } = answered;
  const most = transcript.entries.length;
  if (!isCount(imported, most))
    stage.fail("bootstrap()", `counted ${String(imported)} messages of a file of ${most} lines`);
  return imported;
}
