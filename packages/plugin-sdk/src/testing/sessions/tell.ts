// Tells an engine of turns and of files as hosts do, and checks what it answers.
import type { AgentMessage } from "../../contract/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { call } from "../engine-call.ts";
import { differs } from "./content.ts";
import { copyOf } from "./copies.ts";
import { named as inWords } from "./judge-view.ts";
import { recordOf } from "./record.ts";
import { look } from "./show.ts";
import { AMPLE, type Stage } from "./stage.ts";
import type { Talk, ToldTurn } from "./talk.ts";
import { startOfNewest, trimmed, untouched } from "./transcript.ts";

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

/** Of the newest turn once more, after `turns` before it. */
export async function tellAgain(stage: Stage, talk: Talk, turns = 0): Promise<void> {
  const { newest } = talk;
  if (newest === undefined) return;
  const older = talk.told.filter((turn) => turn !== newest);
  for (const turn of older.slice(Math.max(0, older.length - turns)))
    await tell(stage, talk, turn, true);
  await tell(stage, talk, newest, true);
}

/** By the methods that the engine has; `again`: it was told, and may say so. */
export async function tell(stage: Stage, talk: Talk, turn: ToldTurn, again = false): Promise<void> {
  const told = stage.commits()
    ? commit(stage, talk, turn, again)
    : deliver(stage, talk, turn, again);
  // Nothing of it is left running where one fails.
  const hurries = stage.host.hurries && !again;
  const done = await Promise.allSettled([
    told,
    ...(hurries ? [look(stage, talk, stage.host.budget)] : []),
  ]);
  for (const one of done) if (one.status === "rejected") throw one.reason;
  if (!again) talk.isTight = false;
  talk.newest = turn;
  if (!again && !talk.told.includes(turn)) talk.told.push(turn);
  // Behind its host's own compaction a turn is told by nothing but a file.
  const present = new Set(talk.transcript.items().map(({ id }) => id));
  for (const id of turn.ids) {
    if (present.has(id)) talk.owed.add(id);
    talk.seen.add(id);
  }
  await stage.onAcknowledged?.();
}

async function deliver(stage: Stage, talk: Talk, turn: ToldTurn, again: boolean): Promise<void> {
  const { engine, host } = stage;
  const items = talk.transcript.items();
  const own = [...turn.notes, ...turn.ids].filter((id) => again || !talk.owed.has(id));
  const named = [...(own.length > 0 ? toldAlong(stage, talk, turn) : []), ...own];
  const places = named
    .map((id) => items.findIndex((item) => item.id === id))
    .filter((at) => at >= 0);
  if (places.length === 0) return;
  const [start, end] = [Math.min(...places), Math.max(...places) + 1];
  const told = talk.transcript.history(untouched(host)).slice(0, end);
  // A host that hands over the newest turns tells them in a list of these.
  const cut = Math.min(start, startOfNewest(told, host.newest));
  // What was told before comes as it does in a history.
  const isOld = (message: AgentMessage) =>
    host.trims && talk.owed.has(talk.transcript.idOf(message)!);
  const given = told.slice(cut).map((message) => (isOld(message) ? trimmed(message) : message));
  const first = start - cut;
  const messages = copyOf(given).map((message) => stage.handed(message));
  const heartbeat = turn.heartbeat && { isHeartbeat: true };
  // What stands between them is told with them.
  const ids = given.slice(first).flatMap((message) => talk.transcript.idOf(message) ?? []);
  const isKnown = ids.every((id) => talk.owed.has(id));
  const isRetried = host.retries && !again;
  if (typeof engine.afterTurn === "function") {
    const params = {
      ...stage.toldRef(talk),
      ...(await stage.file(talk)),
      messages,
      prePromptMessageCount: first,
      tokenBudget: host.budget ?? AMPLE,
      runtimeContext: stage.runtimeAfter(),
      ...stage.settings(talk),
      ...heartbeat,
    };
    await twiceIf(isRetried, (copy) => call(engine, "afterTurn", { ...params, ...copy(messages) }));
  } else if (typeof engine.ingestBatch === "function") {
    const batch = { ...stage.toldRef(talk), messages: messages.slice(first), ...heartbeat };
    const counted = await twiceIf(isRetried, async (copy) => {
      const one = await call(engine, "ingestBatch", { ...batch, ...copy(batch.messages) });
      return one?.ingestedCount ?? Number.NaN;
    });
    const answered = counted.reduce((sum, one) => sum + one, 0);
    if (!isCount(answered, end - start))
      stage.fail("ingestBatch()", `counted ${String(answered)} of ${end - start} messages`);
    if (isKnown && answered !== 0)
      stage.fail("ingestBatch()", `counted ${String(answered)} messages that it knew as new`);
    const known = given.slice(first).filter((one) => talk.owed.has(talk.transcript.idOf(one)!));
    if (answered > end - start - known.length)
      stage.fail(
        "ingestBatch()",
        `counted ${answered} of ${end - start} messages as new, of which it knew ${known.length}`,
      );
    const fresh = ids.filter((id) => !talk.owed.has(id) && !talk.seen.has(id));
    talk.counts.push({ ids: fresh, counted: answered });
  } else
    for (const message of messages.slice(first)) {
      const ref = stage.toldRef(talk);
      const both = await twiceIf(isRetried, (copy) =>
        call(engine, "ingest", { ...ref, message: copy([message]).messages[0]!, ...heartbeat }),
      );
      if (both.some((one) => typeof one?.ingested !== "boolean"))
        stage.fail("ingest()", "did not answer { ingested: boolean }");
      if (both.length > 1 && both.every(({ ingested }) => ingested))
        stage.fail("ingest()", "took in a message twice that it was told twice at the same time");
      const answered = { ingested: both.some(({ ingested }) => ingested) };
      const id = talk.transcript.idOf(given[messages.indexOf(message)]!);
      if ((isKnown || talk.owed.has(id!)) && answered.ingested)
        stage.fail("ingest()", "took in a message that it knew as a new one");
      if (id !== undefined && !talk.owed.has(id) && !talk.seen.has(id))
        talk.counts.push({ ids: [id], counted: answered.ingested ? 1 : 0 });
      if (id !== undefined && !talk.owed.has(id) && !answered.ingested) talk.denied.add(id);
    }
  if (differs(messages, given))
    stage.fail("a call that told of a turn", "changed a message it was given");
  for (const id of ids) {
    talk.owed.add(id);
    talk.seen.add(id);
  }
}

/** What a host tells again along with a turn, which does not know that it was told. */
function toldAlong({ host }: Stage, { told }: Talk, turn: ToldTurn): readonly string[] {
  if (!host.overlaps || turn.heartbeat) return [];
  const at = told.indexOf(turn);
  const before = at < 0 ? told.at(-1) : told[at - 1];
  return before === undefined || before.heartbeat ? [] : [...before.notes, ...before.ids];
}

/** Made again before it is answered, of the same, as by a host that waits no longer. */
async function twiceIf<Result>(
  isTwice: boolean,
  make: (copy: (messages: AgentMessage[]) => { messages: AgentMessage[] }) => Result,
): Promise<Awaited<Result>[]> {
  const first = make((messages) => ({ messages }));
  if (!isTwice) return [await first];
  const done = await Promise.allSettled([
    first,
    make((messages) => ({ messages: copyOf(messages) })),
  ]);
  for (const one of done) if (one.status === "rejected") throw one.reason;
  return done.map((one) => (one as PromiseFulfilledResult<Awaited<Result>>).value);
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
  const given = transcript.history(untouched(stage.host)).slice(first, last + 1);
  const messages = copyOf(given).map((message) => stage.handed(message));
  const params = {
    ...stage.toldRef(talk),
    advancementKey: key,
    admission: { ...anchor(first), logicalTurnId: key, role: "user" as const },
    terminal: anchor(last),
    messages,
    runtimeContext: stage.runtimeAfter(),
    ...stage.settings(talk),
    ...(turn.heartbeat && { isHeartbeat: true }),
  };
  const both = await twiceIf(stage.host.retries && !again, (copy) =>
    call(stage.engine, "commitTurn", { ...params, ...copy(messages) }),
  );
  const repeated = both.filter((one) => one?.status === "duplicate");
  if (both.length > 1 && repeated.length === 0)
    stage.fail("commitTurn()", "committed a turn twice that it was told twice at the same time");
  const answered = both.find((one) => !repeated.includes(one)) ?? both[0];
  const expected = again || talk.committed.has(key) ? "duplicate" : "committed";
  if (answered?.status !== expected)
    stage.fail(
      "commitTurn()",
      `answered "${String(answered?.status)}" to a turn that was ${expected === "committed" ? "new" : "committed before"}`,
    );
  if (differs(messages, given)) stage.fail("commitTurn()", "changed a message it was given");
  talk.committed.add(key);
}

/** How many messages of the session's file it says to have taken in, or why not. */
export async function bootstrap(
  stage: Stage,
  talk: Talk,
): Promise<{ imported: number; reason?: string }> {
  const { transcript } = talk;
  if (typeof stage.engine.bootstrap !== "function" || transcript.items().length === 0)
    return { imported: 0 };
  const params = {
    ...stage.toldRef(talk),
    ...(await stage.file(talk)),
    runtimeContext: stage.runtime(),
    ...stage.settings(talk),
  };
  const answered = await call(stage.engine, "bootstrap", params);
  talk.bootstrappedIn = stage.lives;
  if (typeof answered?.bootstrapped !== "boolean")
    stage.fail("bootstrap()", "did not answer { bootstrapped: boolean }");
  const fresh = transcript.items().filter(({ id }) => !talk.seen.has(id) && !talk.owed.has(id));
  if (stage.host.files) for (const id of transcript.said) talk.seen.add(id);
  if (answered.importedMessages === 0 && fresh.length > 0 && stage.traits.keepsAll) {
    const record = await recordOf(stage.engine, stage.ref(talk));
    const kept = fresh.find(({ id }) => record.some((message) => messageId(message) === id));
    if (kept !== undefined)
      stage.fail(
        "bootstrap()",
        `said that it took in nothing, and has ${inWords(kept.message)} now`,
      );
  }
  const { importedMessages: imported = 0 } = answered;
  const most = transcript.entries.length;
  if (!isCount(imported, most))
    stage.fail("bootstrap()", `counted ${String(imported)} messages of a file of ${most} lines`);
  return { imported, ...(answered.reason !== undefined && { reason: answered.reason }) };
}
