// Connects to one server by the official client, which is loaded with the first of them.
import type { ClientOptions, JSONRPCMessage, Tool, Transport } from "@modelcontextprotocol/client";
import { VERSION } from "../../version.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { mendAnswer } from "./mend-answer.ts";
import { createProgramTransport, McpFailure } from "./program-transport.ts";
import type { McpServer } from "./server.ts";

export interface McpConnection {
  /** What the server says of itself. */
  about: { name: string; version: string; revision: string };
  /** All of them. Throws McpFailure. */
  listTools(signal?: AbortSignal): Promise<ListedTools>;
  /**
   * Whatever the server answers; throws McpFailure, the signal's reason once that is stopped, and
   * McpRefusal for what the server itself refuses.
   */
  call(tool: string, given: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

export interface ListedTools {
  tools: readonly Tool[];
  /** What it lists and nobody could call, each with why. */
  left: readonly string[];
}

/** A call that the server took and refused. */
export class McpRefusal extends Error {}

export interface ConnectOptions {
  /** Variables that every program gets. */
  usual: Readonly<Record<string, string | undefined>>;
  /** Ends the attempt to connect. */
  signal: AbortSignal;
  /** The connection is over, and nobody asked for it. */
  onEnd(failure: McpFailure): void;
  /** Its tools are others now. */
  onChanged(): void;
  /** It said something that nobody understands. */
  onOdd(): void;
}

/** Throws McpFailure, at the latest when the server's time to connect is over. */
export async function connectTo(
  server: McpServer,
  options: ConnectOptions,
): Promise<McpConnection & { listed: ListedTools }> {
  const { Client, isSpecType, SdkError, StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/client"
  );
  const { reach, connectTimeoutMs, callTimeoutMs, maxCallMs } = server;
  const program =
    reach.kind === "program"
      ? createProgramTransport({ program: reach, usual: options.usual, onOdd: options.onOdd })
      : undefined;
  const bound = boundedFetch();
  const transport: Transport =
    reach.kind === "program"
      ? program!
      : new StreamableHTTPClientTransport(new URL(reach.url), {
          requestInit: { headers: { ...reach.headers } },
          fetch: bound.fetch,
        });
  const listChanged: ClientOptions["listChanged"] = {
    tools: { autoRefresh: false, debounceMs: 0, onChanged: () => options.onChanged() },
  };
  const mode = server.protocol ?? (reach.kind === "http" ? "auto" : "legacy");
  const client = new Client(
    { name: "clew", version: VERSION },
    {
      capabilities: {},
      versionNegotiation: { mode, probe: { timeoutMs: connectTimeoutMs } },
      listChanged,
      inputRequired: { autoFulfill: false },
    },
  );
  let left: string[] = [];
  onMessages(transport, (message) => {
    const mended = mendAnswer(message, isSpecType, client.getProtocolEra() === "modern");
    left.push(...mended.left);
    return mended.message;
  });
  let isOpen = false;
  const why = (error: unknown, afterMs: number): McpFailure => {
    const own = program?.failure() ?? bound.failure();
    const failure = own ?? failureOf(error, { afterMs, server, SdkError });
    const said = program?.said().trim();
    const quoted = said ? `; it says: ${said.split("\n").slice(0, 5).join(" / ")}` : "";
    return new McpFailure(failure.kind, `${failure.message}${quoted}`);
  };
  client.onclose = () => {
    if (!isOpen) return;
    isOpen = false;
    options.onEnd(why(undefined, 0));
  };
  const close = async () => {
    isOpen = false;
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  };
  const list = async (timeout: number, signal?: AbortSignal): Promise<ListedTools> => {
    if (client.getServerCapabilities()?.tools === undefined) return { tools: [], left: [] };
    const given = { timeout, cacheMode: "refresh" as const, ...(signal && { signal }) };
    left = [];
    const { tools } = await client.listTools(undefined, given);
    return { tools, left };
  };
  const begun = performance.now();
  let listed: ListedTools;
  try {
    listed = await inTime({ boundMs: connectTimeoutMs, signal: options.signal }, async () => {
      await client.connect(transport, { timeout: connectTimeoutMs });
      return list(Math.max(100, connectTimeoutMs - (performance.now() - begun)));
    });
    if (program?.failure() !== undefined) throw program.failure();
  } catch (error) {
    const failure = why(error, connectTimeoutMs);
    const closed = close();
    if (options.signal.aborted) await closed;
    throw failure;
  }
  isOpen = true;
  const { name = server.name, version = "" } = client.getServerVersion() ?? {};
  const revision = client.getNegotiatedProtocolVersion() ?? "";
  return {
    listed,
    about: { name, version, revision },
    async listTools(signal) {
      try {
        return await list(callTimeoutMs, signal);
      } catch (error) {
        signal?.throwIfAborted();
        throw why(error, callTimeoutMs);
      }
    },
    async call(tool, given, signal) {
      try {
        return await client.callTool(
          { name: tool, arguments: given },
          {
            ...{ signal, timeout: callTimeoutMs, maxTotalTimeout: maxCallMs },
            // Whoever reports progress is not held for mute.
            ...{ resetTimeoutOnProgress: true, onprogress: () => {} },
            // What it says as data is not used, so it need not be checked.
            toolDefinition: { name: tool, inputSchema: { type: "object" } },
          },
        );
      } catch (error) {
        // The client tells a stopped call as one that took too long.
        signal.throwIfAborted();
        if (isRefusal(error, SdkError)) throw new McpRefusal(messageOf(error));
        throw why(error, callTimeoutMs);
      }
    },
    close,
  };
}

type SdkErrorClass = typeof import("@modelcontextprotocol/client").SdkError;

/** What came back from the server, or what nobody here can answer it, is no failure of its own. */
function isRefusal(error: unknown, SdkError: SdkErrorClass): boolean {
  if (error instanceof McpFailure) return false;
  if (error instanceof SdkError)
    return ["INVALID_RESULT", "UNSUPPORTED_RESULT_TYPE", "CAPABILITY_NOT_SUPPORTED"].includes(
      error.code,
    );
  return typeof (error as { code?: unknown } | null)?.code === "number";
}

function failureOf(
  error: unknown,
  { afterMs, server, SdkError }: { afterMs: number; server: McpServer; SdkError: SdkErrorClass },
): McpFailure {
  if (error instanceof McpFailure) return error;
  const status = statusOf(error);
  if (status === 401 || status === 403)
    return new McpFailure("refused", `it refuses what it is shown (HTTP ${status}); see headers`);
  if (error instanceof SdkError && error.code === "REQUEST_TIMEOUT")
    return new McpFailure("mute", `it did not answer within ${afterMs} ms`);
  if (server.reach.kind === "program")
    return new McpFailure("ended", error === undefined ? "it ended" : messageOf(error));
  const { host } = new URL(server.reach.url);
  if (status !== undefined) return new McpFailure("ended", `${host} answers HTTP ${status}`);
  if (error === undefined) return new McpFailure("ended", `the connection to ${host} ended`);
  return new McpFailure("ended", `nothing answers at ${host} (${messageOf(error)})`);
}

function statusOf(error: unknown): number | undefined {
  const { status, data } = (error ?? {}) as { status?: unknown; data?: { status?: unknown } };
  const found = status ?? data?.status;
  if (typeof found === "number") return found;
  return error instanceof Error && error.name === "UnauthorizedError" ? 401 : undefined;
}

/** What the library found wrong with an answer it tells as JSON of many lines. */
function messageOf(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === "INVALID_RESULT")
    return "its answer is not what the protocol says";
  const message = error instanceof Error ? error.message : String(error);
  const [first = ""] = message.trim().split("\n");
  return first.length > MOST_MESSAGE_CHARS ? `${first.slice(0, MOST_MESSAGE_CHARS)}…` : first;
}

const MOST_MESSAGE_CHARS = 300;

/** Whoever reads them from now on is given what `mend` makes of them. */
function onMessages(transport: Transport, mend: (message: JSONRPCMessage) => JSONRPCMessage): void {
  let take: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => take,
    set(next: Transport["onmessage"]) {
      take = next && ((message, extra) => next(mend(message), extra));
    },
  });
}

async function inTime<Value>(
  { boundMs, signal }: { boundMs: number; signal: AbortSignal },
  work: () => Promise<Value>,
): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const tell = () => late.reject(new McpFailure("mute", `it was not ready within ${boundMs} ms`));
  const stop = () => late.reject(new McpFailure("ended", "nobody needs it any more"));
  const timer = setTimeout(tell, boundMs);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
