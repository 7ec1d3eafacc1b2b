// What a gateway tells of its sessions without opening them.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { OtherCosts } from "../costs/all-costs.ts";
import type { Costs } from "../costs/meter.ts";
import { paidSince } from "../costs/paid-since.ts";
import type { Usage } from "../costs/usage.ts";
import { demoState, isDemo } from "../demo/demo-place.ts";
import { readUsage } from "../demo/demo-usage.ts";
import type { Host } from "../host/host.ts";
import { createInspector, type Inspector } from "../inspect/inspector.ts";
import { findMissingAtEnd } from "../inspect/missing-turns.ts";
import { fatesOfLast } from "../inspect/one-call.ts";
import type { TurnUnderWay } from "../inspect/session-source.ts";
import type { MissingTurn } from "../inspect/shapes/calls.ts";
import type { FateCounts } from "../inspect/shapes/entries.ts";
import {
  newestLines,
  readShadowLines,
  type ShadowedCall,
  type ShadowSummary,
  shadowFile,
  summarizeShadow,
} from "../lab/shadow-lines.ts";
import { type AskedPage, createListing, type SessionAbout } from "../listing/list-page.ts";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { type ContextView, describeContext, readContextItem } from "../reports/context-view.ts";
import { readLastRequest } from "../reports/report-log.ts";
import type { Conversations } from "../sessions/conversations.ts";
import type { SessionSummary } from "../sessions/list-sessions.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { agentPaths } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import type { SessionPage, SessionStore } from "../sessions/store.ts";
import { inTree, type Placed, type StartedSession } from "../subagents/session-tree.ts";
import type { KnownSession, KnownSessions } from "./known-sessions.ts";
import { newestMessages } from "./newest-messages.ts";
import type { TurnReports } from "./turn-reports.ts";

export interface ShadowView {
  summary: ShadowSummary;
  /** Oldest first. */
  calls: ShadowedCall[];
}

export interface ListedSession extends SessionSummary, SessionAbout, Placed {
  busy: boolean;
  /** True: Clew made it to be looked at, and nobody said it. */
  demo: boolean;
}

export interface SessionViews {
  /** Newest first, but for those that other sessions started: they follow these. */
  sessions(): Promise<ListedSession[]>;
  /**
   * A part of them, with what they are about; its size does not grow with the list. `sideRequests`:
   * how many are left out because they stand beside conversations.
   */
  sessionPage(
    page: AskedPage,
  ): Promise<{ sessions: ListedSession[]; next: string | null; sideRequests: number }>;
  session(key: string): Promise<(KnownSession & { busy: boolean }) | null>;
  /** At most `limit` of its newest entries, as they are shown. */
  page(key: string, limit: number): Promise<(SessionPage & { busy: boolean }) | null>;
  /**
   * At most `limit` of its newest messages, as they are shown, oldest first; null when there is no
   * such session.
   */
  messages(key: string, limit: number): Promise<AgentMessage[] | null>;
  /**
   * What a shadow engine would have made of its newest `limit` calls, and of all; null when none
   * was handed any of it. Throws SESSION_NOT_FOUND.
   */
  shadow(key: string, limit: number): Promise<ShadowView | null>;
  /** The engine that answers in a session, also before its first message, and how it stands. */
  engine(key: string): Promise<EngineStatus>;
  /**
   * What the model saw in the session's last call, and what became of every entry in it; null when
   * there was none. Throws SESSION_NOT_FOUND.
   */
  context(
    key: string,
  ): Promise<(ContextView & { fates: FateCounts; missingTurns: MissingTurn[] }) | null>;
  /**
   * The whole text of one item of `context`; null when there is no such item. Throws
   * SESSION_NOT_FOUND.
   */
  contextItem(
    key: string,
    part: "system" | "tools" | "messages",
    index: number,
  ): Promise<string | null>;
  /**
   * The turn whose report is still to be stored, as far as it went; null = none is under way.
   * Throws SESSION_NOT_FOUND.
   */
  turnUnderWay(key: string): Promise<TurnUnderWay | null>;
  /** The model calls of a session, and what each saw. Throws SESSION_NOT_FOUND. */
  inspect(key: string): Promise<Inspector>;
  /**
   * What model calls cost, of all sessions, or of one and those it started. Throws
   * SESSION_NOT_FOUND.
   */
  usage(key?: string): Promise<Usage>;
}

export interface SessionViewsOptions {
  home: string;
  /** The folder whose agents have the turn reports. */
  records: string;
  host: Pick<Host, "engineStatus" | "pricesOf">;
  agentOf: (key: string) => string;
  store: SessionStore;
  known: KnownSessions;
  conversations: Conversations;
  underWay: TurnReports["underWay"];
  /** Keys of the sessions whose clients are being answered. */
  answering(): ReadonlySet<string>;
  costs: Pick<Costs, "underWay">;
  /** As of `Storage`. */
  otherCosts?: OtherCosts | undefined;
  /** Sessions that others started, oldest first. */
  children: () => Promise<readonly StartedSession[]>;
  canonicalKey: (text: string) => string;
}

const sourceOf = ({ sessionId, branch, file }: KnownSession, folder: string) => ({
  ...{ folder, sessionId, branch, file },
  allEntries: () => readAllEntries(file),
});

const NOTHING_STORED = { branch: [], allEntries: async () => [] };
const NOTHING_SAID = { branch: [], deliveries: { read: () => undefined } };

/** Sessions whose calls are kept known. */
const MOST_INSPECTED = 8;

export function createSessionViews(options: SessionViewsOptions): SessionViews {
  const { home, records, host, store, known, conversations, canonicalKey, agentOf } = options;
  const read = (text: string) => known.read(canonicalKey(text));
  const isBusy = (text: string) => {
    const key = canonicalKey(text);
    return conversations.busy().has(key) || options.answering().has(key);
  };
  const require = async (text: string) => {
    const found = await read(text);
    if (found === null) throw sessionNotFound(text);
    return found;
  };
  /** Also of one in which nothing was said yet. */
  const requireName = async (text: string): Promise<string> => {
    const sessionId = await store.idOf(canonicalKey(text));
    if (sessionId === null) throw sessionNotFound(text);
    return sessionId;
  };
  const reportsOf = ({ agentId }: KnownSession) => agentPaths(records, agentId).reports;
  const inspectors = new Map<string, Inspector>();
  const { pricesOf } = host;
  const createInspectorOf = (key: string): Inspector => {
    const readAgain = known.remembering();
    return createInspector(async () => {
      const found = await readAgain(key);
      const sessionId = found?.sessionId ?? (await store.idOf(key));
      if (sessionId === null) throw sessionNotFound(key);
      const underWay = options.underWay(sessionId);
      const folder = agentPaths(records, agentOf(key)).reports;
      // Right behind a /new nothing was said yet.
      if (found === null) return { folder, sessionId, underWay, ...NOTHING_STORED };
      const paid = (at: string) => paidSince(home, key, at);
      return { ...sourceOf(found, folder), underWay, paidSince: paid };
    }, pricesOf);
  };
  const inspectorOf = (key: string): Inspector => {
    const inspector = inspectors.get(key) ?? createInspectorOf(key);
    inspectors.delete(key);
    inspectors.set(key, inspector);
    for (const oldest of inspectors.keys())
      if (inspectors.size > MOST_INSPECTED) inspectors.delete(oldest);
    return inspector;
  };
  const listing = createListing(store);
  const rows = async () => inTree(await store.list(), await options.children());
  const listed = async (
    placed: readonly (SessionSummary & SessionAbout & Placed)[],
  ): Promise<ListedSession[]> => {
    const busy = new Set([...conversations.busy().keys(), ...options.answering()]);
    const isMade = (await demoState(home)) === "made";
    return placed.map((row) => ({ ...row, busy: busy.has(row.key), demo: isMade && isDemo(row) }));
  };
  return {
    sessions: async () => listed(await rows()),
    async sessionPage(asked) {
      const parts = { rows: await store.list(), children: await options.children() };
      const { sessions, ...page } = await listing.page(parts, asked);
      return { sessions: await listed(sessions), ...page };
    },
    async session(text) {
      const found = await read(text);
      return found && { ...found, busy: isBusy(text) };
    },
    async page(text, limit) {
      const found = await known.newest(canonicalKey(text), limit);
      return found && { ...found, busy: isBusy(text) };
    },
    messages: (text, limit) => newestMessages(known, canonicalKey(text), limit),
    async shadow(text, limit) {
      const { agentId, sessionId } = await require(text);
      const lines = await readShadowLines(shadowFile(home, agentId, sessionId));
      const summary = summarizeShadow(lines);
      if (summary === null) return null;
      const newest = newestLines(lines, summary.engine);
      return { summary, calls: newest.flatMap(({ calls }) => calls).slice(-limit) };
    },
    async engine(text) {
      const key = canonicalKey(text);
      const found = await known.read(key);
      const said = found && { branch: found.branch, deliveries: await store.deliveries(found) };
      return host.engineStatus(agentOf(key), { key, ...(said ?? NOTHING_SAID) });
    },
    async context(text) {
      const found = await require(text);
      const reports = reportsOf(found);
      const last = await readLastRequest(reports, found.sessionId);
      if (last === null) return null;
      const fates = await fatesOfLast(last, sourceOf(found, reports));
      const missingTurns = await findMissingAtEnd({
        ...sourceOf(found, reports),
        paidSince: (at) => paidSince(home, canonicalKey(text), at),
        underWay: options.underWay(found.sessionId),
      });
      return { ...(await describeContext(reports, found, last)), fates, missingTurns };
    },
    async usage(text) {
      const usage = await readUsage(
        { home, sessions: options.store, records, otherCosts: options.otherCosts },
        ...([pricesOf, text && canonicalKey(text), options.costs.underWay()] as const),
      );
      // What a session cost outlives it.
      if (text !== undefined && usage.total.modelCalls === 0) await requireName(text);
      return usage;
    },
    async contextItem(text, part, index) {
      const found = await require(text);
      return readContextItem(reportsOf(found), found, part, index);
    },
    turnUnderWay: async (text) => options.underWay(await requireName(text)) ?? null,
    async inspect(text) {
      await requireName(text);
      return inspectorOf(canonicalKey(text));
    },
  };
}
