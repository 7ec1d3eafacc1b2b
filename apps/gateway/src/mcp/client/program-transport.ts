// Speaks with a server that is a process of its own, one JSON message per line.
import { type ChildProcess, spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { isRecord } from "@clew/plugin-sdk/host";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { guardGroup } from "../../tools/guard.ts";
import type { McpFailureKind } from "./plan-retry.ts";
import { type McpReach, MESSAGE_BYTES } from "./server.ts";

/** Why a server is not there, for programs and for people. */
export class McpFailure extends Error {
  readonly kind: McpFailureKind;
  constructor(kind: McpFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface ProgramTransport extends Transport {
  /** Why it ended; undefined = it did not, or as it was asked to. */
  failure(): McpFailure | undefined;
  /** The first lines that the program wrote to its error output. */
  said(): string;
}

export interface ProgramOptions {
  program: Extract<McpReach, { kind: "program" }>;
  /** Variables that every server gets. */
  usual: Readonly<Record<string, string | undefined>>;
  /** Told of each line that is no message. */
  onOdd(): void;
  /** Most bytes of a message. Absent: 32 MiB. */
  messageBytes?: number;
  /** Lines without a message, after which the server is ended. Absent: 10 000. */
  mostOdd?: number;
}

/** Of the error output, what is kept. */
const SAID_CHARS = 2000;
/** Between two ways to end a process, each ruder than the one before, ms. */
const GRACE_MS = 1000;
const MOST_ODD = 10_000;

export function createProgramTransport(options: ProgramOptions): ProgramTransport {
  const { program, usual, messageBytes = MESSAGE_BYTES, mostOdd = MOST_ODD } = options;
  let child: ChildProcess | undefined;
  let said = "";
  let failure: McpFailure | undefined;
  let isClosing = false;
  let odd = 0;
  const exited = Promise.withResolvers<void>();
  const endAs = (kind: McpFailureKind, text: string) => {
    failure ??= new McpFailure(kind, text);
    endGroup(child, "SIGKILL");
  };
  const lines = createLines(messageBytes, {
    line(line) {
      const message = messageIn(line);
      if (message !== undefined) return transport.onmessage?.(message);
      options.onOdd();
      odd++;
      if (odd >= mostOdd) endAs("flood", `it wrote ${mostOdd} lines that are no messages`);
    },
    tooLong: () =>
      endAs("too-large", `it sent a message of more than ${messageBytes / 1024 / 1024} MiB`),
  });
  const transport: ProgramTransport = {
    failure: () => failure,
    said: () => said,
    start: () =>
      new Promise((resolve, reject) => {
        const started = spawn(program.command, [...program.args], {
          env: { ...usual, ...program.env },
          stdio: "pipe",
          // A group of its own: what it began ends with it.
          detached: process.platform !== "win32",
          windowsHide: true,
          ...(program.cwd !== undefined && { cwd: program.cwd }),
        });
        child = started;
        let unguard = () => {};
        started.once("spawn", () => {
          unguard = guardGroup(started.pid!);
          resolve();
        });
        started.on("error", (error: NodeJS.ErrnoException) => {
          reject(new McpFailure("unusable", describeSpawn(program, error)));
          exited.resolve();
        });
        // Writing to a process that is gone is told by its end.
        started.stdin.on("error", () => {});
        started.stdout.on("data", (bytes: Buffer) => {
          if (failure === undefined) lines.take(bytes);
        });
        started.stderr.on("data", (bytes: Buffer) => {
          if (said.length < SAID_CHARS)
            said = stripVTControlCharacters(said + bytes.toString("utf8")).slice(0, SAID_CHARS);
        });
        started.once("exit", (code, signal) => {
          if (!isClosing) failure ??= new McpFailure("ended", describeExit(code, signal));
          // What it left behind may hold its pipes open.
          endGroup(started, "SIGKILL");
          unguard();
          // What it said last may still be on its way.
          setTimeout(() => {
            started.stdout.destroy();
            started.stderr.destroy();
            exited.resolve();
            transport.onclose?.();
          }, 20);
        });
      }),
    async send(message) {
      const stdin = child?.stdin;
      if (stdin == null || !stdin.writable || failure !== undefined)
        throw failure ?? new McpFailure("ended", "it is not there");
      if (stdin.write(`${JSON.stringify(message)}\n`)) return;
      await Promise.race([new Promise((resolve) => stdin.once("drain", resolve)), exited.promise]);
    },
    async close() {
      isClosing = true;
      if (child === undefined || child.pid === undefined) return;
      child.stdin?.end();
      if (await isOver(exited.promise)) return;
      endGroup(child, "SIGTERM");
      if (await isOver(exited.promise)) return;
      endGroup(child, "SIGKILL");
      await isOver(exited.promise);
    },
  };
  return transport;
}

function isOver(exited: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), GRACE_MS);
    void exited.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Cuts what comes into lines, in a time that grows with their bytes. */
function createLines(
  mostBytes: number,
  { line, tooLong }: { line: (line: string) => void; tooLong: () => void },
) {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return {
    take(given: Buffer) {
      let rest = given;
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const whole = Buffer.concat([...pieces, rest.subarray(0, end)]).toString("utf8");
        pieces = [];
        bytes = 0;
        rest = rest.subarray(end + 1);
        if (whole.trim() !== "") line(whole);
      }
      pieces.push(rest);
      bytes += rest.length;
      if (bytes <= mostBytes) return;
      pieces = [];
      bytes = 0;
      tooLong();
    },
  };
}

function messageIn(line: string): JSONRPCMessage | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return isRecord(parsed) && parsed.jsonrpc === "2.0" ? (parsed as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}

function endGroup(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  const pid = child?.pid;
  if (child === undefined || pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-pid, signal);
  } catch {
    // It is over.
  }
}

function describeSpawn(
  { command, cwd }: ProgramOptions["program"],
  { code, message }: NodeJS.ErrnoException,
): string {
  const where = cwd === undefined ? "" : `, or its folder ${cwd} is not`;
  if (code === "ENOENT") return `its program "${command}" is not there${where}`;
  if (code === "EACCES") return `its program "${command}" may not be run`;
  return `its program "${command}" cannot be started: ${message}`;
}

const describeExit = (code: number | null, signal: string | null): string =>
  signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
