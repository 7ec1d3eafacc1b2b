// Speaks JSON lines with one Codex app-server, until either side ends it.
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { LogPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { z } from "zod";
import { visible } from "../../text/visible.ts";
import { createLineReader } from "../lines.ts";
import { MessageSchema } from "./protocol.ts";

export type CodexProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** A request that was answered with an error. */
export class CodexRefusal extends Error {
  override readonly name = "CodexRefusal";
  readonly method: string;
  readonly code: number | undefined;

  constructor(method: string, error: { code?: number | undefined; message: string }) {
    super(error.message);
    this.method = method;
    this.code = error.code;
  }
}

export interface Connection {
  /** Throws CodexRefusal where it is refused, and HARNESS_FAILED where nobody answers. */
  request<Schema extends z.ZodType>(
    method: string,
    params: object,
    schema: Schema,
  ): Promise<z.infer<Schema>>;
  notify(method: string): void;
  /** Why it is over, in one sentence; undefined: it is not. */
  readonly over: string | undefined;
  /** Resolves with that sentence. */
  readonly ended: Promise<string>;
  /** Lines that were no message, for reports. */
  takeGarbage(): { count: number; first: string } | undefined;
  /** Ends the process and everything that it began. */
  close(): Promise<void>;
}

/** Who is told of what comes unasked. */
export interface ConnectionHandlers {
  news(method: string, params: unknown): void;
  /** Its result is sent back; what it throws is sent as an error. */
  asked(method: string, params: unknown): Promise<unknown>;
}

export interface ConnectionOptions {
  child: CodexProcess;
  log: LogPort;
  handlers: ConnectionHandlers;
  /** Longest wait for an answer, ms. */
  answerMs: number;
}

/** Of what was no message, in characters. */
const QUOTED = 200;
const STDERR_LINES = 3;
const KILL_AFTER_MS = 2_000;

export function connect({ child, log, handlers, answerMs }: ConnectionOptions): Connection {
  const waiting = new Map<number, (answer: unknown, error?: Error) => void>();
  const lastErrors: string[] = [];
  let lastId = 0;
  let over: string | undefined;
  let garbage: { count: number; first: string } | undefined;
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();

  const finish = (sentence: string) => {
    if (over !== undefined) return;
    over = sentence;
    for (const settle of [...waiting.values()]) settle(undefined, failed(sentence));
    waiting.clear();
    if (hasExited(child)) return end(sentence);
    kill(child, "SIGTERM");
    setTimeout(() => hasExited(child) || kill(child, "SIGKILL"), KILL_AFTER_MS).unref();
    end(sentence);
  };
  const send = (message: object) => {
    if (over === undefined) child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  const take = (line: string) => {
    const message = parse(line);
    if (message === undefined) {
      garbage = {
        count: (garbage?.count ?? 0) + 1,
        first: garbage?.first ?? line.slice(0, QUOTED),
      };
      return;
    }
    const { id, method, params, result, error } = message;
    if (method !== undefined && id !== undefined) void answer(id, method, params);
    else if (method !== undefined) handlers.news(method, params);
    else if (typeof id === "number") waiting.get(id)?.(result, error && refusal(id, error));
  };
  const methods = new Map<number, string>();
  const refusal = (id: number, error: { code?: number | undefined; message: string }) =>
    new CodexRefusal(methods.get(id) ?? "", error);
  const answer = async (id: string | number, method: string, params: unknown) => {
    try {
      send({ id, result: await handlers.asked(method, params) });
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      send({ id, error: { code: -32_000, message } });
    }
  };

  const lines = createLineReader({
    onLine: take,
    onTooLong: (bytes) => finish(`Codex sent a line of more than ${bytes} bytes.`),
  });
  const errors = createLineReader({
    onLine(line) {
      lastErrors.push(visible(line.slice(0, QUOTED)));
      if (lastErrors.length > STDERR_LINES) lastErrors.shift();
    },
    onTooLong: () => {},
  });
  child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  // What it is told after its end has nobody to read it.
  child.stdin.on("error", () => {});
  child.on("error", (error) => finish(`Codex could not be run: ${error.message}.`));
  child.on("exit", (code, signal) => {
    // What it began and left ends with it.
    kill(child, "SIGKILL");
    errors.end();
    if (over === undefined && lastErrors.length > 0)
      log.warn("Codex ended by itself", { stderr: lastErrors });
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const said = lastErrors.at(-1)?.replace(/\.$/, "");
    finish(`Codex ended (${how}${said === undefined ? "" : `; it said last: ${said}`}).`);
  });

  return {
    request(method, params, schema) {
      if (over !== undefined) return Promise.reject(failed(over));
      const id = ++lastId;
      methods.set(id, method);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          finish(`Codex did not answer ${method} within ${answerMs / 1000} s.`);
        }, answerMs);
        waiting.set(id, (result, error) => {
          clearTimeout(timer);
          waiting.delete(id);
          methods.delete(id);
          if (error !== undefined) return reject(error);
          const read = schema.safeParse(result);
          if (read.success) return resolve(read.data);
          reject(failed(`Codex answered ${method} with what cannot be read.`));
        });
        send({ id, method, params });
      });
    },
    notify: (method) => send({ method }),
    get over() {
      return over;
    },
    ended,
    takeGarbage() {
      const taken = garbage;
      garbage = undefined;
      return taken;
    },
    async close() {
      const exit = hasExited(child)
        ? Promise.resolve()
        : new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      finish("Codex was ended.");
      await exit;
    },
  };
}

const failed = (message: string) => new ContextEngineError("HARNESS_FAILED", message);

function parse(line: string) {
  try {
    const read = MessageSchema.safeParse(JSON.parse(line));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

const hasExited = ({ exitCode, signalCode }: CodexProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** With everything that it began: it leads a group of its own. */
function kill({ pid }: CodexProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}
