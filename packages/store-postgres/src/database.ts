// Asks a PostgreSQL, and sends the same statement again where a failure passes.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import pg from "pg";
import { breaksConnection, codeOf, passes, RETRIES, waitBefore } from "./passing.ts";

/** A statement that may be sent twice: its second run finds that the first one was. */
export interface Statement<Row> {
  /** It is prepared under this name. */
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

export interface Database {
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
  /** Runs SQL of several statements in one transaction, after `check` allowed it. */
  change(check: (ask: AskText) => Promise<string | undefined>): Promise<void>;
  /**
   * All that `work` asks is done or nothing of it. Throws what `work` throws, and what the database
   * says, once: nobody else knows whether it may be tried again.
   */
  together<Result>(work: (ask: AskInside) => Promise<Result>): Promise<Result>;
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
  /** Told of every statement that was answered. */
  onRoundTrip?: ((trip: RoundTrip) => void) | undefined;
}

/** Statements that went to the database together, and came back. */
export interface RoundTrip {
  /** Their names, in order. */
  readonly statements: readonly string[];
  /** How long it took. */
  readonly ms: number;
}

export function openDatabase({
  url,
  connections,
  timeoutMs,
  onRoundTrip = () => {},
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...{ connectionString: url, max: connections, application_name: "clew" },
    ...{ connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs },
    // Connections of a pool that nobody uses keep no process alive.
    ...{ allowExitOnIdle: true, pipeline: true },
  } as pg.PoolConfig);
  // Of connections that nobody uses: the next statement gets another.
  pool.on("error", () => {});

  async function withClient<Result>(use: (client: pg.PoolClient) => Promise<Result>) {
    const client = await pool.connect();
    let broken: unknown;
    // A connection that breaks tells it twice: its statement, and this.
    const onError = (error: Error) => {
      broken = error;
    };
    client.on("error", onError);
    try {
      return await use(client);
    } catch (error) {
      if (breaksConnection(error)) broken = error;
      throw error;
    } finally {
      client.off("error", onError);
      client.release(broken !== undefined);
    }
  }

  const attempt = (questions: readonly Question[]) =>
    withClient(async (client) => {
      const began = performance.now();
      const answers = await Promise.allSettled(
        questions.map(({ statement: { name, text }, values }) =>
          client.query({ name, text, values: [...values] }),
        ),
      );
      const failed = answers.find((answer) => answer.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      onRoundTrip({
        statements: questions.map(({ statement }) => statement.name),
        ms: performance.now() - began,
      });
      return answers.map((answer) => (answer.status === "fulfilled" ? answer.value.rows : []));
    });

  async function insist(questions: readonly Question[]): Promise<unknown[][]> {
    for (let retry = 0; ; retry++) {
      try {
        return await attempt(questions);
      } catch (error) {
        if (retry === RETRIES || !passes(error)) throw storageFailed(error);
        await pause(waitBefore(retry, Math.random()));
      }
    }
  }

  return {
    async ask<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const [rows] = await insist([{ statement, values }]);
      return rows as Row[];
    },
    async askOnce<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const [rows] = await attempt([{ statement, values }]);
      return rows as Row[];
    },
    askTogether: async (questions) => (await insist(questions as readonly Question[])) as never,
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
    end: () => pool.end(),
  };
}

/** What the database says is for its operator, and holds nothing of a session. */
export function storageFailed(error: unknown): ContextEngineError {
  if (ContextEngineError.is(error)) return error;
  const code = codeOf(error);
  return new ContextEngineError(
    "STORAGE_FAILED",
    `PostgreSQL did not do what it was asked${code === undefined ? "" : ` (${code})`}; its log says why, or nobody listens at this address.`,
    { cause: error },
  );
}

const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms));
