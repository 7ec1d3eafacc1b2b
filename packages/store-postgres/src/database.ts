// Asks a PostgreSQL, and sends the same statement again where a failure passes.
import pg from "pg";
import type { Blobs } from "./blob-place.ts";
import { type FailureKind, kindOf, storageFailed, Uncertain } from "./failure.ts";
import {
  breaksConnection,
  forgetsNames,
  mayBeDone,
  passes,
  RETRIES,
  waitBefore,
} from "./passing.ts";
import { withPlainMode } from "./tls.ts";

/** A statement that may be sent twice: its second run finds that the first one was. */
export interface Statement<Row> {
  /** It is prepared under this name, and counted. */
  readonly name: string;
  readonly text: string;
  /** Of one row of its answer; only for the compiler. */
  readonly row?: Row;
}

/** A statement and what to put in. */
export interface Question<Row = unknown> {
  statement: Statement<Row>;
  values: readonly unknown[];
}

/** Where large bodies are kept instead of in their rows. */
export interface LargeBodies {
  port: Blobs;
  onKeptInRows(kept: KeptInRows): void;
  /** What could not be put there last: when, by this process's own clock, and a sentence. */
  failed?: { at: number; why: string } | undefined;
}

/** Large bodies that stay in the database, as they could not be put where they belong. */
export interface KeptInRows {
  /** Whose they are. */
  agentId: string;
  /** Of which session; null: of several. */
  sessionKey: string | null;
  /** How many. */
  count: number;
  /** Of all of them. */
  bytes: number;
  /** One sentence. */
  why: string;
}

/** What a database is given of them. */
export const largeBodies = (
  options: {
    blobs?: ((clusterId: string) => Blobs) | undefined;
    onKeptInRows?: LargeBodies["onKeptInRows"] | undefined;
  },
  clusterId: string,
): LargeBodies | undefined =>
  options.blobs && {
    port: options.blobs(clusterId),
    onKeptInRows: options.onKeptInRows ?? (() => {}),
  };

export interface Database {
  /** Given when it is known which database it is. Undefined: all bodies are in their rows. */
  blobs: LargeBodies | undefined;
  /** Throws STORAGE_FAILED. */
  ask<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
  /** The same without another attempt. */
  askOnce<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
  /** Several in one round trip; each sees what those before it have done. */
  askTogether<Rows extends readonly unknown[]>(
    questions: {
      [Index in keyof Rows]: Question<Rows[Index]>;
    },
  ): Promise<{ [Index in keyof Rows]: Rows[Index][] }>;
  /**
   * The same in one transaction. `settings`: SQL that holds for it alone, as a pooler gives the
   * connection to others afterwards.
   */
  askAsOne<Rows extends readonly unknown[]>(
    questions: {
      [Index in keyof Rows]: Question<Rows[Index]>;
    },
    settings?: string,
  ): Promise<{ [Index in keyof Rows]: Rows[Index][] }>;
  /** Runs SQL of several statements in one transaction, after `check` allowed it. */
  change(check: (ask: AskText) => Promise<string | undefined>): Promise<void>;
  /**
   * All that `work` asks is done or nothing of it. Throws what `work` throws, and what the database
   * says, once: nobody else knows whether it may be tried again.
   */
  together<Result>(work: (ask: AskInside) => Promise<Result>): Promise<Result>;
  /**
   * SQL of others as they wrote it, which may be several statements and a transaction of its own;
   * rows of the last one. Throws what the database says.
   */
  askPlainly<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Whoever waits is told at once that nobody answers, and so is who asks later. */
  abandon(): void;
  end(): Promise<void>;
}

/** Inside of a transaction. */
export type AskInside = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

export type AskText = (text: string) => Promise<Record<string, unknown>[]>;

export interface DatabaseOptions {
  url: string;
  connections: number;
  /** An answer that takes longer is not waited for. */
  timeoutMs: number;
  /**
   * A first attempt is not waited for any longer, as its connection may have been dropped on the
   * way, which nobody is told. Absent: `timeoutMs`.
   */
  firstAnswerMs?: number;
  /** What passes is tried again for so long at least. Absent: a few times. */
  patienceMs?: number;
  /** Told of every attempt to ask something. */
  onRoundTrip?: ((trip: RoundTrip) => void) | undefined;
}

interface Attempt {
  /** SQL that begins a transaction. */
  begin?: string | undefined;
  answerMs?: number;
  /** Processes of the server whose connections were left; this one's is added where it breaks. */
  left?: number[];
}

/** What is under way to them must not arrive behind what is sent again. Behind a pooler, nobody. */
const END_LEFT = `
  select pg_terminate_backend(pid, 1000) from pg_stat_activity
  where pid = any($1) and usename = current_user and application_name = 'clew'`;

/** Statements that went to the database together, and came back, or failed. */
export interface RoundTrip {
  /** Their names, in order. */
  readonly statements: readonly string[];
  /** How long it took. */
  readonly ms: number;
  /** Null: it was answered. */
  readonly failed: FailureKind | null;
}

/** However long an answer may take. */
const MOST_TO_CONNECT_MS = 15_000;

export function openDatabase({
  url,
  connections,
  timeoutMs,
  firstAnswerMs = timeoutMs,
  patienceMs = 0,
  onRoundTrip = () => {},
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...{ connectionString: withPlainMode(url), max: connections, application_name: "clew" },
    connectionTimeoutMillis: Math.min(timeoutMs, MOST_TO_CONNECT_MS),
    query_timeout: timeoutMs,
    // A connection that was dropped on its way is noticed before it is needed.
    ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS },
    // Connections of a pool that nobody uses keep no process alive.
    ...{ allowExitOnIdle: true, pipeline: true },
  } as pg.PoolConfig);
  // Of connections that nobody uses: the next statement gets another.
  pool.on("error", () => {});
  const used = new Set<pg.PoolClient>();
  const end = Promise.withResolvers<never>();
  end.promise.catch(() => {});
  let isAbandoned = false;
  /** A pooler between gives each transaction another connection, which knows no name. */
  let isNameless = false;

  function connect(): Promise<pg.PoolClient> {
    if (isAbandoned) throw abandoned();
    const connecting = pool.connect();
    // Nobody waits any more for one that comes late.
    connecting.then((client) => isAbandoned && client.release(true)).catch(() => {});
    return Promise.race([connecting, end.promise]);
  }
  async function withClient<Result>(
    use: (client: pg.PoolClient) => Promise<Result>,
    left?: number[],
  ) {
    const client = await connect();
    let broken: unknown;
    // A connection that breaks tells it twice: its statement, and this.
    const onError = (error: Error) => {
      broken = error;
    };
    client.on("error", onError);
    used.add(client);
    try {
      return await use(client);
    } catch (error) {
      if (breaksConnection(error)) {
        broken = error;
        left?.push(...processOf(client));
      }
      throw error;
    } finally {
      used.delete(client);
      client.off("error", onError);
      client.release(broken !== undefined);
    }
  }

  /** In one transaction where there is something that begins it. */
  const attempt = (
    questions: readonly Question[],
    { begin, answerMs = timeoutMs, left }: Attempt,
  ) =>
    withClient(async (client) => {
      if (left !== undefined && left.length > 0)
        client.query(END_LEFT, [[...left]]).catch(() => {});
      const asked = questions.map(({ statement, values }) => ({
        ...(!isNameless && { name: preparedName(statement) }),
        ...{ text: statement.text, values: [...values], query_timeout: answerMs },
      }));
      // They are sent in this order, and none waits for the answer to another.
      const begun = begin === undefined ? [] : [client.query(begin)];
      const sent = asked.map((question) => client.query(question));
      const ended = begin === undefined ? [] : [client.query("commit")];
      const [first, ...answers] = await Promise.allSettled([Promise.all(begun), ...sent, ...ended]);
      if (first.status === "rejected") throw first.reason;
      const failed = answers.find((answer) => answer.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      return answers
        .slice(0, questions.length)
        .map((answer) => (answer.status === "fulfilled" ? answer.value.rows : []));
    }, left);
  async function told(questions: readonly Question[], how: Attempt = {}): Promise<unknown[][]> {
    const began = performance.now();
    const tell = (failed: FailureKind | null) =>
      onRoundTrip({
        statements: questions.map(({ statement }) => statement.name),
        ...{ ms: performance.now() - began, failed },
      });
    try {
      const rows = await attempt(questions, how);
      tell(null);
      return rows;
    } catch (error) {
      if (forgetsNames(error)) isNameless = true;
      tell(kindOf(error));
      throw error;
    }
  }

  async function insist(questions: readonly Question[], begin?: string): Promise<unknown[][]> {
    const began = performance.now();
    let isUncertain = false;
    const left: number[] = [];
    for (let retry = 0; ; retry++) {
      try {
        // What was sent before may still be under way, and is waited for with the second one.
        const isFirst = retry === 0 && begin === undefined;
        return await told(questions, { begin, left, ...(isFirst && { answerMs: firstAnswerMs }) });
      } catch (error) {
        isUncertain ||= mayBeDone(error);
        const isEnough = retry >= RETRIES && performance.now() - began >= patienceMs;
        if (isEnough || isAbandoned || !passes(error))
          throw storageFailed(isUncertain ? new Uncertain("", { cause: error }) : error);
        await pause(waitBefore(retry, Math.random()));
      }
    }
  }

  return {
    blobs: undefined,
    async ask<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const [rows] = await insist([{ statement, values }]);
      return rows as Row[];
    },
    async askOnce<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const [rows] = await told([{ statement, values }]);
      return rows as Row[];
    },
    askTogether: async (questions) => (await insist(questions as readonly Question[])) as never,
    askAsOne: async (questions, settings = "") =>
      (await insist(questions as readonly Question[], `begin; ${settings}`)) as never,
    change: (check) =>
      withClient(async (client) => {
        const ask: AskText = async (text) => (await client.query(text)).rows;
        await ask("begin");
        try {
          const sql = await check(ask);
          if (sql !== undefined) await ask(sql);
          await ask("commit");
        } catch (error) {
          await ask("rollback").catch(() => {});
          throw error;
        }
      }),
    together: (work) =>
      withClient(async (client) => {
        await client.query("begin");
        try {
          const result = await work(
            async (text, values) => (await client.query(text, [...values])).rows,
          );
          await client.query("commit");
          return result;
        } catch (error) {
          await client.query("rollback").catch(() => {});
          throw error;
        }
      }),
    askPlainly: (text, values) =>
      withClient(async (client) => {
        const asked = performance.now();
        const tell = (failed: FailureKind | null) =>
          onRoundTrip({ statements: [PLAIN], ms: performance.now() - asked, failed });
        try {
          const answer = await client.query(text, values && [...values]);
          tell(null);
          // Several statements have an answer each.
          const last = Array.isArray(answer)
            ? answer.findLast(({ rows }) => rows.length > 0)
            : answer;
          return last?.rows ?? [];
        } catch (error) {
          tell(kindOf(error));
          // A transaction that it began is not to be the next one's.
          if (!breaksConnection(error)) await client.query("rollback");
          throw error;
        }
      }),
    abandon() {
      isAbandoned = true;
      end.reject(abandoned());
      for (const client of used) cut(client);
    },
    async end() {
      const ended = pool.end();
      if (!isAbandoned) await ended;
    },
  };
}

const KEEP_ALIVE_MS = 10_000;
/** By which what others ask is counted. */
const PLAIN = "queue";

/** Its statements fail then as those of a connection that broke. */
function cut(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}

/** The server's, of a connection. */
function processOf(client: pg.PoolClient): number[] {
  const { processID } = client as unknown as { processID?: number | null };
  return typeof processID === "number" ? [processID] : [];
}

const preparedNames = new WeakMap<Statement<unknown>, string>();

/**
 * Behind a pooler, a gateway of another version may have prepared another text under the same name,
 * on a connection that this one gets.
 */
function preparedName(statement: Statement<unknown>): string {
  let name = preparedNames.get(statement);
  if (name === undefined) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < statement.text.length; at++)
      hash = Math.imul(hash ^ statement.text.charCodeAt(at), 0x01000193);
    name = `${statement.name} ${(hash >>> 0).toString(16)}`;
    preparedNames.set(statement, name);
  }
  return name;
}

const abandoned = () => new Error("this gateway does not ask the database any more");

const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms));
