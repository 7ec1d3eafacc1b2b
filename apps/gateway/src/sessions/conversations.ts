// Opens sessions on demand, gives each one task at a time, and closes idle ones.
import type { SessionState } from "@clew/engine-core";
import { gatewayStopping } from "../stopping.ts";
import type { SessionNote } from "./notes.ts";
import type { OpenSession } from "./open.ts";
import { createKeyedQueue } from "./queues.ts";
import type { SessionStore } from "./store.ts";

export interface Conversation {
  session: OpenSession;
  state: SessionState;
}

export interface Conversations {
  /**
   * Waits for the session's turn, opens it if needed, and runs `work`. A signal aborted while
   * waiting gives up the place.
   */
  run<Result>(
    key: string,
    work: (conversation: Conversation) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /**
   * Like `run`, for what asks or changes one small thing: a session that was not open is closed
   * again, and with it its lock, unless somebody waits for it or an engine still works on it.
   */
  visit: Conversations["run"];
  /**
   * Waits for the session's turn, closes it if it is open, and runs `work`, after which it is
   * opened again: the way to another transcript.
   */
  replace<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** The session of a key that is open now. */
  peek(key: string): OpenSession | undefined;
  /** Pieces of work running or waiting, per canonical key. */
  busy(): ReadonlyMap<string, number>;
  /** Waits for work under way and gives up every lock; later calls of `run` are refused. */
  close(): Promise<void>;
}

export interface ConversationsOptions {
  store: SessionStore;
  /** The canonical key of what a caller wrote. */
  canonical: (key: string) => string;
  cwd: (key: string) => string;
  createState: () => SessionState;
  /** Awaited before anybody works with it. */
  onOpened: (conversation: Conversation, notes: readonly SessionNote[]) => void | Promise<void>;
  /** Before the session's lock is given up. */
  onClosing: (conversation: Conversation) => Promise<void>;
  /** Sessions kept open. */
  maxOpen?: number;
  /** What they may hold in memory, bytes; the one that is used stays open whatever it holds. */
  maxOpenBytes?: number;
  /** What a compaction may leave behind in memory until the session is opened again, bytes. */
  maxSpareBytes?: number;
  /** Time after its last use until a session is closed. */
  idleMs?: number;
}

const DEFAULT_MAX_OPEN = 256;
const DEFAULT_MAX_OPEN_BYTES = 128 * 2 ** 20;
const DEFAULT_MAX_SPARE_BYTES = 16 * 2 ** 20;
const DEFAULT_IDLE_MS = 5 * 60_000;

export function createConversations(options: ConversationsOptions): Conversations {
  const { canonical, onClosing, idleMs = DEFAULT_IDLE_MS } = options;
  const { maxSpareBytes = DEFAULT_MAX_SPARE_BYTES } = options;
  const { maxOpen = DEFAULT_MAX_OPEN, maxOpenBytes = DEFAULT_MAX_OPEN_BYTES } = options;
  // In order of use: the first one was idle longest.
  const open: OpenConversations = new Map();
  const { enqueue, pending } = createKeyedQueue();
  let closing = false;

  /** What another program wrote, or took away, is read before anybody goes on with it. */
  const letGoMoved = async (key: string): Promise<readonly SessionNote[]> => {
    const how = open.get(key)?.conversation.session.moved() ?? null;
    if (how === null) return [];
    await closeOne(key);
    return [{ kind: "read-again", how }];
  };
  const closeOne = async (key: string) => {
    const found = open.get(key);
    open.delete(key);
    clearTimeout(found?.idle);
    if (found === undefined) return;
    await onClosing(found.conversation).finally(() => found.conversation.session.close());
  };
  /** In the session's own queue, so that it never closes under somebody's work. */
  const retire = (key: string) =>
    void enqueue(key, () => ((pending.get(key) ?? 0) > 1 ? Promise.resolve() : closeOne(key)));
  const release = (key: string) => {
    const found = open.get(key);
    if (found === undefined) return;
    found.idle = setTimeout(() => retire(key), idleMs).unref();
    const { session } = found.conversation;
    if (session.isGuest === true || session.spareBytes() > maxSpareBytes) retire(key);
    for (const other of planClosing(open, { maxOpen, maxOpenBytes }))
      if (!pending.has(other) || other === key) retire(other);
  };
  const unlessClosing = <Result>(text: string, work: (key: string) => Promise<Result>) => {
    const key = canonical(text);
    if (closing) return Promise.reject(gatewayStopping());
    return enqueue(key, () => work(key));
  };
  const inTurn =
    (leave: (key: string, wasOpen: boolean) => void | Promise<void>): Conversations["run"] =>
    (text, work, signal) =>
      unlessClosing(text, async (key) => {
        signal?.throwIfAborted();
        const wasOpen = open.has(key);
        const conversation = await acquire(open, options, key, await letGoMoved(key));
        try {
          return await work(conversation);
        } finally {
          await leave(key, wasOpen);
        }
      });
  const isWanted = (key: string) =>
    (pending.get(key) ?? 0) > 1 ||
    open.get(key)?.conversation.state.maintenance.active !== undefined;
  return {
    run: inTurn(release),
    visit: inTurn((key, wasOpen) => (wasOpen || isWanted(key) ? release(key) : closeOne(key))),
    replace: (text, work) => unlessClosing(text, (key) => closeOne(key).then(work)),
    peek: (text) => open.get(canonical(text))?.conversation.session,
    busy: () => pending,
    async close() {
      closing = true;
      // Each when its own work is done: one that never ends keeps no other one's lock.
      const keys = new Set([...open.keys(), ...pending.keys()]);
      await Promise.all([...keys].map((key) => enqueue(key, () => closeOne(key))));
    },
  };
}

type OpenConversations = Map<
  string,
  { conversation: Conversation; idle: NodeJS.Timeout | undefined }
>;

/** Those used longest ago, until the others are within the bounds. */
function planClosing(
  open: OpenConversations,
  { maxOpen, maxOpenBytes }: { maxOpen: number; maxOpenBytes: number },
): string[] {
  let count = open.size;
  let bytes = 0;
  for (const { conversation } of open.values()) bytes += conversation.session.heldBytes();
  const closing: string[] = [];
  for (const [key, { conversation }] of open) {
    if (count <= 1 || (count <= maxOpen && bytes <= maxOpenBytes)) break;
    closing.push(key);
    count--;
    bytes -= conversation.session.heldBytes();
  }
  return closing;
}

/** The conversation of `key`, now the one used last; `before`: what was done before that. */
async function acquire(
  open: OpenConversations,
  { store, cwd, createState, onOpened }: ConversationsOptions,
  key: string,
  before: readonly SessionNote[],
): Promise<Conversation> {
  const found = open.get(key);
  if (found !== undefined) {
    clearTimeout(found.idle);
    open.delete(key);
    open.set(key, { ...found, idle: undefined });
    return found.conversation;
  }
  const session = await store.open({ key, cwd: cwd(key) });
  const conversation = { session, state: createState() };
  open.set(key, { conversation, idle: undefined });
  await onOpened(conversation, [...before, ...session.notes]);
  return conversation;
}
