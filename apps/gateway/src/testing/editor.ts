// An editor for tests, the protocol's own client, which runs the built `clew acp`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import {
  type ClientCapabilities,
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import { BUILT_CLEW } from "./command.ts";

export interface EditorOptions {
  /** Default: the editor offers nothing. */
  capabilities?: ClientCapabilities;
  /**
   * Which option is chosen; "cancelled" = the question is closed; an object is the answer as it is.
   * Default: "once".
   */
  onPermission?(asked: RequestPermissionRequest): Permission | Promise<Permission>;
  /** Texts that the editor has, by absolute path. */
  buffers?: Map<string, string>;
  args?: readonly string[];
}

type Permission = string | Record<string, unknown>;

export interface TestEditor {
  agent: ClientContext;
  process: ChildProcess;
  updates: SessionUpdate[];
  /** With the sessions that they are about. */
  notifications: SessionNotification[];
  permissions: RequestPermissionRequest[];
  /** What it asked of the editor's files and terminals. */
  asked: string[];
  errors(): string;
  /** What was told by updates of one kind, as texts. */
  texts(kind: SessionUpdate["sessionUpdate"]): string;
  /** Ends its input, and gives the exit code of the command. */
  leave(): Promise<number | null>;
}

export async function startEditor(home: string, options: EditorOptions = {}): Promise<TestEditor> {
  const { capabilities = {}, onPermission = () => "once", buffers = new Map() } = options;
  const child = spawn(process.execPath, [BUILT_CLEW, "acp", ...(options.args ?? [])], {
    env: { ...process.env, CLEW_HOME: home, OPENCLAW_STATE_DIR: "" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const notifications: SessionNotification[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const asked: string[] = [];
  const terminals = createTerminals(asked);
  const app = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params }) => {
      notifications.push(params);
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      permissions.push(params);
      const optionId = await onPermission(params);
      if (typeof optionId !== "string") return optionId as never;
      return optionId === "cancelled"
        ? { outcome: { outcome: "cancelled" } }
        : { outcome: { outcome: "selected", optionId } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params: { path } }) => {
      asked.push(`read ${path}`);
      const content = buffers.get(path);
      if (content === undefined) throw new Error("no such buffer");
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
      asked.push(`write ${path}`);
      buffers.set(path, content);
      return {};
    })
    .onRequest(methods.client.terminal.create, ({ params }) => terminals.create(params))
    .onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.wait(params))
    .onRequest(methods.client.terminal.output, ({ params }) => terminals.output(params))
    .onRequest(methods.client.terminal.kill, ({ params }) => terminals.kill(params))
    .onRequest(methods.client.terminal.release, ({ params }) => terminals.release(params));
  const { agent } = app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ),
  );
  await agent.request(methods.agent.initialize, {
    ...{ protocolVersion: PROTOCOL_VERSION, clientCapabilities: capabilities },
    clientInfo: { name: "test-editor", version: "1" },
  });
  return {
    ...{ agent, process: child, notifications, permissions, asked, errors: () => errors },
    get updates() {
      return notifications.map(({ update }) => update);
    },
    texts: (kind) =>
      notifications
        .flatMap(({ update }) =>
          update.sessionUpdate === kind && "content" in update ? [textOf(update.content)] : [],
        )
        .join(""),
    async leave() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
      return child.exitCode;
    },
  };
}

const textOf = (content: unknown): string => (content as { text?: string } | null)?.text ?? "";

interface Named {
  terminalId: string;
}

/** Terminals that run what they are told with a shell of their own. */
function createTerminals(asked: string[]) {
  const all = new Map<
    string,
    { child: ChildProcess; output: string; exit: Promise<number | null> }
  >();
  return {
    create({ command, args = [], cwd }: { command: string; args?: string[]; cwd?: string | null }) {
      asked.push(`run ${[command, ...args].join(" ")} in ${cwd}`);
      const child = spawn(command, args, {
        cwd: cwd ?? undefined,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const terminalId = `t${all.size + 1}`;
      const terminal = { child, output: "", exit: exitOf(child) };
      child.stdout.on("data", (bytes: Buffer) => {
        terminal.output += bytes.toString();
      });
      all.set(terminalId, terminal);
      return { terminalId };
    },
    async wait({ terminalId }: Named) {
      return { exitCode: await all.get(terminalId)!.exit };
    },
    output: ({ terminalId }: Named) => ({ output: all.get(terminalId)!.output, truncated: false }),
    kill({ terminalId }: Named) {
      asked.push(`kill ${terminalId}`);
      all.get(terminalId)!.child.kill("SIGKILL");
      return {};
    },
    release({ terminalId }: Named) {
      asked.push(`release ${terminalId}`);
      return {};
    },
  };
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("close", (code) => resolve(code)));
