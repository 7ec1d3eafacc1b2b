// Engines that write down by message id everything they are given, in a store that outlives them.
import {
  type AgentMessage,
  type ContextEngine,
  messageId,
  type RuntimeContext,
  type TranscriptEntryAnchor,
} from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { atomicGroups, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { contentOf, type Disk, eventOf, fileOf, messageEntries, readBranch } from "./disk.ts";
import { compactBy } from "./engine-compaction.ts";
import type { EngineShape } from "./engine-shape.ts";
import type { EngineStore } from "./engine-store.ts";
import { repeated } from "./events.ts";
import { withManners } from "./manners.ts";

/** What a process lends to its engines, and wants to know of them. */
export interface EngineSurroundings {
  disk: Disk;
  store: EngineStore;
  /** Throws, aborts the run or never resolves when the process is told to. */
  step(name: string): Promise<void>;
  /** Position in the process's steps, to tell whether a mishap fell into a call. */
  now(): number;
  /** Step at which the run was aborted; undefined = it was not. */
  abortedAt(): number | undefined;
  /**
   * Asked when a call begins; told how it ended. A call that outlives its command is not the next
   * one's.
   */
  begin(method: string): (ok: boolean) => void;
  /** Told when it made the context smaller by itself. */
  compacted(): void;
  /** Whether anybody compacted in the running command. */
  hasCompacted(): boolean;
  /** Whether a turn runs whose prompt is not stored yet. */
  isBeforeTurn(): boolean;
  /** Whether maintenance behind the reply shall not end by itself; true once for each command. */
  takeHang(): boolean;
  /** The rewrite that a command wished for, once. */
  takeWish(): RewriteWish | undefined;
}

/** Which stored message an engine should rewrite, counted from the newest. */
export interface RewriteWish {
  fromEnd: number;
  /** Whether its replacement loses what the host put on the message. */
  isBare: boolean;
}

export function recordingEngine(shape: EngineShape, around: EngineSurroundings): ContextEngine {
  const { disk, store, step, now, abortedAt } = around;
  let isDisposed = false;
  /** Lent to a call that is over. */
  let keptRewrite: RuntimeContext["rewriteTranscriptEntries"];

  const call = async <Result>(method: string, work: () => Result | Promise<Result>) => {
    if (isDisposed) store.wrong.push(`${shape.id}: ${method} was called after dispose`);
    const ended = around.begin(method);
    try {
      await step(`engine ${shape.id} ${method}`);
      const result = await work();
      await step(`engine ${shape.id} ${method}:done`);
      ended(true);
      return result;
    } catch (error) {
      ended(false);
      throw error;
    }
  };

  function remember(messages: readonly AgentMessage[], isHeartbeat: boolean | undefined): number {
    let fresh = 0;
    for (const message of messages) {
      if (message.role === "compactionSummary" || message.role === "branchSummary") continue;
      const id = messageId(message);
      if (id !== undefined && store.rows.some((row) => row.id === id)) continue;
      const content = contentOf(message);
      store.rows.push({ id, event: eventOf(message), role: message.role, content, isHeartbeat });
      fresh++;
    }
    return fresh;
  }

  /** One delivery: what it brings is acknowledged when the host sees it return. */
  async function take<Result>(
    method: string,
    messages: readonly AgentMessage[],
    isHeartbeat: boolean | undefined,
    result: (fresh: number) => Result,
  ): Promise<Result> {
    const started = now();
    const ids = messages.flatMap((message) => messageId(message) ?? []);
    try {
      const answer = await call(method, () => result(remember(messages, isHeartbeat ?? false)));
      const fired = abortedAt();
      if (fired !== undefined && fired >= started) doubt(ids);
      else for (const id of ids) acknowledge(id);
      return answer;
    } catch (error) {
      doubt(ids);
      throw error;
    }
  }

  const acknowledge = (id: string) => {
    store.acknowledged.set(id, (store.acknowledged.get(id) ?? 0) + 1);
    store.recent.push(id);
  };
  const doubt = (ids: readonly string[]) => {
    for (const id of ids) store.doubtful.add(id);
  };

  /** An engine is told before it is asked; what was there before its first turn is left out. */
  function expectKnown(what: string, messages: readonly AgentMessage[]): void {
    const known = new Set([...store.rows.map((row) => row.id), ...store.before]);
    for (const message of messages) {
      const id = messageId(message);
      if (id !== undefined && !known.has(id) && !store.doubtful.has(id) && disk.kinds.has(id))
        store.wrong.push(`${shape.id} was ${what} ${eventOf(message)} before it was given it`);
    }
  }

  /** It chooses from every turn there was or, where the host compacted, from the summary and more. */
  function expectWhole(messages: readonly AgentMessage[], branch: readonly TranscriptEntry[]) {
    const isSummed = branch.some(({ type }) => type === "compaction");
    if (isSummed && !messages.some(({ role }) => role === "compactionSummary"))
      store.wrong.push(`${shape.id} was asked for a view without the summary`);
    if (branch.some(({ type }) => type === "compaction" || type === "branch_summary")) return;
    const given = new Set(messages.map(eventOf));
    const prompts = messageEntries(branch).filter(({ message }) => message.role === "user");
    for (const { message } of prompts.slice(0, -1))
      if (!given.has(eventOf(message)))
        store.wrong.push(`${shape.id} was asked for a view without ${eventOf(message)}`);
  }

  /** A turn's first and last message stand where the host says they do. */
  function expectAnchored(
    anchors: readonly TranscriptEntryAnchor[],
    branch: readonly TranscriptEntry[],
  ): void {
    const told = branch.filter(({ type }) => type === "message" || type === "branch_summary");
    for (const { entryId, rawSeq, activeMessagePosition } of anchors)
      if (branch[rawSeq]?.id !== entryId || told[activeMessagePosition]?.id !== entryId)
        store.wrong.push(
          `${shape.id}: ${entryId} is not entry ${rawSeq}, or not message ${activeMessagePosition}`,
        );
  }

  /** Before the turn it may read, not rewrite. */
  function expectNoRewriter(method: string, context: RuntimeContext | undefined): void {
    if (context?.rewriteTranscriptEntries !== undefined && around.isBeforeTurn())
      store.wrong.push(`${shape.id} may rewrite in ${method}, before the turn began`);
  }

  /** Goes on until it is told to stop; nothing it does then has an effect. */
  async function hang(context: RuntimeContext | undefined, file: string, stop?: AbortSignal) {
    const waiting = {};
    store.hangs.add(waiting);
    await new Promise((resolve) => stop?.addEventListener("abort", resolve));
    store.hangs.delete(waiting);
    if (await mayRewrite(context?.rewriteTranscriptEntries, file))
      store.wrong.push(`${shape.id} rewrote when it had been told to stop`);
  }

  async function expectRevoked(file: string): Promise<void> {
    if (await mayRewrite(keptRewrite, file))
      store.wrong.push(`${shape.id} rewrote with what was lent to a call that is over`);
    keptRewrite = undefined;
  }

  async function mayRewrite(
    rewrite: RuntimeContext["rewriteTranscriptEntries"],
    file: string,
  ): Promise<boolean> {
    const [first] = messageEntries(readBranch(disk, file));
    if (first === undefined || rewrite === undefined) return false;
    const message = shortened(first.message, { fromEnd: 0, isBare: false });
    return rewrite({ replacements: [{ entryId: first.id, message }] }).then(
      ({ changed }) => changed,
      () => false,
    );
  }

  async function tidyUp(method: string, context: RuntimeContext | undefined, file: string) {
    const rewrite = context?.rewriteTranscriptEntries;
    const wish = rewrite === undefined ? undefined : around.takeWish();
    if (rewrite === undefined || wish === undefined) return;
    const target = messageEntries(readBranch(disk, file)).at(-1 - wish.fromEnd);
    if (target === undefined) return;
    await step(`engine ${shape.id} ${method} rewrites`);
    await rewrite({
      replacements: [{ entryId: target.id, message: shortened(target.message, wish) }],
    });
  }

  if (shape.instead !== undefined) return everyCall(shape.instead, call, around.compacted);
  const { ownsCompaction, inBackground, takes, bootstraps } = shape;
  const engine: ContextEngine = {
    info: {
      id: shape.id,
      name: `Engine ${shape.id}`,
      version: "1.0.0",
      ...(ownsCompaction && { ownsCompaction }),
      ...(inBackground && { turnMaintenanceMode: "background" }),
      ...(takes === "commitTurn" && {
        transcriptSemantics: {
          currentTurnFence: "before-current-turn-entry-v1",
          turnAdvancementIdempotency: "atomic-idempotent-v1",
        },
      }),
    },
    ingest: ({ message, isHeartbeat }) =>
      take("ingest", [message], isHeartbeat, (fresh) => ({ ingested: fresh === 1 })),
    assemble: ({ messages, tokenBudget, sessionId }) =>
      call("assemble", () => {
        expectKnown("asked for a view of", messages);
        expectWhole(messages, readBranch(disk, fileOf(sessionId)));
        const view = within(
          messages.filter((message) => !store.covered.has(messageId(message) ?? "")),
          store.summary,
          tokenBudget,
        );
        const chosen =
          shape.returns === "copies" ? (JSON.parse(JSON.stringify(view)) as AgentMessage[]) : view;
        return { messages: chosen, estimatedTokens: estimateMessages(chosen).estimate };
      }),
    compact: (params) => call("compact", () => compactBy(shape, around, params)),
    maintain: ({ runtimeContext, abortSignal, sessionId, sessionFile = fileOf(sessionId) }) =>
      call("maintain", async () => {
        expectNoRewriter("maintain", runtimeContext);
        await expectRevoked(sessionFile);
        if (runtimeContext?.allowDeferredCompactionExecution && around.takeHang()) {
          await hang(runtimeContext, sessionFile, abortSignal);
          return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
        }
        const isAfterTurn = runtimeContext?.rewriteTranscriptEntries !== undefined;
        if (isAfterTurn && !inBackground && !around.hasCompacted())
          expectKnown(
            "told to tidy up after",
            messageEntries(readBranch(disk, sessionFile)).map(({ message }) => message),
          );
        await tidyUp("maintain", runtimeContext, sessionFile);
        return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      }),
    dispose: () => {
      isDisposed = true;
    },
  };
  if (takes === "ingestBatch")
    engine.ingestBatch = ({ messages, isHeartbeat }) =>
      take("ingestBatch", messages, isHeartbeat, (ingestedCount) => ({ ingestedCount }));
  if (takes === "afterTurn")
    engine.afterTurn = ({ messages, prePromptMessageCount, isHeartbeat, runtimeContext }) => {
      keptRewrite = runtimeContext?.rewriteTranscriptEntries;
      for (const event of repeated(messages.map(eventOf)))
        store.wrong.push(`${shape.id} was shown ${event} twice in one call`);
      return take("afterTurn", messages.slice(prePromptMessageCount), isHeartbeat, () => undefined);
    };
  if (takes === "commitTurn")
    engine.commitTurn = ({ advancementKey, messages, isHeartbeat, runtimeContext, ...turn }) => {
      expectAnchored([turn.admission, turn.terminal], readBranch(disk, fileOf(turn.sessionId)));
      keptRewrite = runtimeContext?.rewriteTranscriptEntries;
      const ids = messages.map(messageId).join();
      const known = store.keys.get(advancementKey);
      const other = [...store.keys].find(([key, its]) => its === ids && key !== advancementKey);
      if (other !== undefined)
        store.wrong.push(`${shape.id}: one turn has the keys ${other[0]} and ${advancementKey}`);
      if (known !== undefined && known !== ids)
        store.wrong.push(`${shape.id}: key ${advancementKey} names two turns: ${known} and ${ids}`);
      return take("commitTurn", known === undefined ? messages : [], isHeartbeat, () => {
        store.keys.set(advancementKey, ids);
        return { status: known === undefined ? ("committed" as const) : ("duplicate" as const) };
      });
    };
  if (bootstraps !== "never")
    engine.bootstrap = ({ runtimeContext, sessionId, sessionFile = fileOf(sessionId) }) =>
      call("bootstrap", () => {
        expectNoRewriter("bootstrap", runtimeContext);
        if (bootstraps === "once" && store.hasBootstrapped) return { bootstrapped: false };
        store.hasBootstrapped = true;
        const messages = messageEntries(readBranch(disk, sessionFile)).map(
          ({ message }) => message,
        );
        const read = bootstraps === "newest" ? messages.slice(-2) : messages;
        // Whoever reads the newest first is given the others after them.
        if (bootstraps === "newest")
          for (const message of read) store.readAhead.add(messageId(message) ?? "");
        return { bootstrapped: true, importedMessages: remember(read, undefined) };
      });
  return withManners(engine, shape.manners ?? "careful");
}

/** The same engine, each of whose calls goes through `call`. */
function everyCall(
  engine: ContextEngine,
  call: <Result>(method: string, work: () => Result | Promise<Result>) => Promise<Result>,
  compacted: () => void,
): ContextEngine {
  const { info, ingest, assemble, compact, bootstrap, ingestBatch, afterTurn, commitTurn } = engine;
  return {
    info,
    ingest: (params) => call("ingest", () => ingest.call(engine, params)),
    assemble: (params) => call("assemble", () => assemble.call(engine, params)),
    compact: (params) =>
      call("compact", async () => {
        const result = await compact.call(engine, params);
        if (result.ok && result.compacted) compacted();
        return result;
      }),
    ...(bootstrap && {
      bootstrap: (params) => call("bootstrap", () => bootstrap.call(engine, params)),
    }),
    ...(ingestBatch && {
      ingestBatch: (params) => call("ingestBatch", () => ingestBatch.call(engine, params)),
    }),
    ...(afterTurn && {
      afterTurn: (params) => call("afterTurn", () => afterTurn.call(engine, params)),
    }),
    ...(commitTurn &&
      info.transcriptSemantics && {
        commitTurn: (params) => call("commitTurn", () => commitTurn.call(engine, params)),
      }),
  };
}

/** Old messages leave a view that is over budget; the newest turn never does. */
function within(
  messages: readonly AgentMessage[],
  summary: string | undefined,
  tokenBudget = Number.POSITIVE_INFINITY,
): AgentMessage[] {
  const head: AgentMessage[] =
    summary === undefined ? [] : [{ role: "compactionSummary", summary }];
  const newest = messages.findLastIndex(({ role }) => role === "user");
  let start = messages.length;
  let tokens = estimateMessages(head).high;
  for (const group of atomicGroups(messages).reverse()) {
    tokens += estimateMessages(messages.slice(group.start, group.end)).high;
    if (tokens > tokenBudget && group.end <= newest) break;
    start = group.start;
  }
  return [...head, ...messages.slice(start)];
}

function shortened(message: AgentMessage, { isBare }: RewriteWish): AgentMessage {
  const { __openclaw: host, ...bare } = message;
  const kept = (isBare ? bare : message) as AgentMessage;
  if (kept.role === "user" && typeof kept.content === "string")
    return { ...kept, content: `${kept.content} [cut]` };
  if (kept.role === "assistant" || kept.role === "toolResult")
    return {
      ...kept,
      content: kept.content.map((block) =>
        block.type === "text" ? { ...block, text: `${block.text} [cut]` } : block,
      ),
    } as AgentMessage;
  return kept;
}
