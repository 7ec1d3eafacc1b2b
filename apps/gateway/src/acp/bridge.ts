// Keeps an editor connected to what answers it, also when that goes away and comes back.
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { isRecord } from "@clew/plugin-sdk/host";
import type { Backend } from "./backend.ts";
import { AcpRefusal, refusalOf } from "./refusal.ts";

export interface BridgeOptions {
  editor: Stream;
  /** Looks for the one that answers now. */
  open(): Promise<Backend>;
  /** For people, on the error output. */
  note(text: string): void;
}

type Id = string | number | null;
type Message = { id?: Id; method?: string; params?: unknown; result?: unknown; error?: unknown };

/** What an editor has asked and was not answered. */
interface Asked {
  method: string;
  params: Record<string, unknown>;
}

/** Ids of questions that are the bridge's own. */
const OWN = "clew:";

const GONE = "The gateway went away; what was said is kept, so send it again.";

/** Settles when the editor is gone and what it asked for is over. */
export async function runBridge({ editor, open, note }: BridgeOptions): Promise<void> {
  const asked = new Map<Id, Asked>();
  /** What the editor holds, by which it is opened again where nobody knows of it. */
  const held = new Map<string, { cwd: unknown; mcpServers?: unknown }>();
  const own = new Map<string, (message: Message) => void>();
  const output = editor.writable.getWriter();
  let begun: unknown;
  let epoch = 0;
  let questions = 0;
  let backend: Backend | null = null;
  let isOver = false;

  const toEditor = (message: object) =>
    output.write({ jsonrpc: "2.0", ...message } as AnyMessage).catch(() => {});
  const refuse = (id: Id, error: unknown) => {
    const { code, message, data } = refusalOf(error);
    asked.delete(id);
    return toEditor({ id, error: { code, message, ...(data !== undefined && { data }) } });
  };
  const lose = (lost: Backend) => {
    if (backend !== lost) return;
    backend = null;
    for (const settle of own.values()) settle({ error: { message: GONE } });
    own.clear();
    if (isOver) return;
    for (const id of [...asked.keys()]) void refuse(id, gatewayGone());
    note("the gateway went away; the next prompt looks for it again");
  };
  const ask = (to: Backend, method: string, params: unknown): Promise<Message> =>
    new Promise((resolve) => {
      const id = `${OWN}${++questions}`;
      own.set(id, resolve);
      const message = { jsonrpc: "2.0", id, method, params } as AnyMessage;
      to.send(message).then(
        (taken) => taken ?? resolve({ error: { message: GONE } }),
        (error: unknown) => resolve({ error: { message: refusalOf(error).message } }),
      );
    });
  const connect = async (): Promise<Backend> => {
    const opened = await open();
    backend = opened;
    epoch++;
    void listen(opened, epoch);
    if (begun === undefined) return opened;
    await ask(opened, "initialize", begun);
    for (const [sessionId, place] of held) {
      const { error } = await ask(opened, "session/resume", { sessionId, ...place });
      if (error === undefined) continue;
      held.delete(sessionId);
      note(`session ${sessionId} could not be opened again: ${messageIn(error)}`);
    }
    return opened;
  };
  const listen = async (from: Backend, current: number) => {
    try {
      for await (const message of from.messages) take(message as Message, current);
    } catch (error) {
      note(refusalOf(error).message);
    } finally {
      lose(from);
    }
  };
  const take = (message: Message, current: number) => {
    const { id, method, params } = message;
    if (method !== undefined && id !== undefined)
      return toEditor({ ...message, id: `${current}:${JSON.stringify(id)}` });
    if (method === "$/cancel_request" && isRecord(params)) {
      const requestId = `${current}:${JSON.stringify(params.requestId)}`;
      return toEditor({ method, params: { ...params, requestId } });
    }
    if (method !== undefined || id === undefined) return toEditor(message);
    const settle = typeof id === "string" ? own.get(id) : undefined;
    if (settle !== undefined) {
      own.delete(id as string);
      return settle(message);
    }
    const question = asked.get(id);
    asked.delete(id);
    if (question !== undefined && message.error === undefined) keep(question, message.result);
    return toEditor(message);
  };
  const keep = ({ method, params }: Asked, result: unknown) => {
    const { sessionId = (result as { sessionId?: unknown } | null)?.sessionId } = params;
    if (method === "initialize") begun = params;
    if (typeof sessionId !== "string") return;
    if (OPENING.has(method))
      held.set(sessionId, { cwd: params.cwd, mcpServers: params.mcpServers ?? [] });
    if (CLOSING.has(method)) held.delete(sessionId);
  };
  /** Sent again where the first one has reached nobody. */
  const forward = async (message: Message, isAgain = false): Promise<void> => {
    const to = backend ?? (await connect());
    const taken = await to.send({ jsonrpc: "2.0", ...message } as AnyMessage);
    if (taken !== null) return;
    const { id } = message;
    const question = id === undefined ? undefined : asked.get(id);
    if (id !== undefined) asked.delete(id);
    lose(to);
    if (isAgain) throw gatewayGone();
    if (id !== undefined && question !== undefined) asked.set(id, question);
    await forward(message, true);
  };
  const fromEditor = async (message: Message): Promise<void> => {
    const { id, method, params } = message;
    if (method === undefined) {
      const answered = typeof id === "string" ? /^(\d+):(.*)$/s.exec(id) : null;
      // The one that asked is not there any more.
      if (answered === null || Number(answered[1]) !== epoch || backend === null) return;
      await backend.send({ ...message, id: JSON.parse(answered[2]!) as Id } as AnyMessage);
      return;
    }
    if (id !== undefined && asked.has(id))
      return note(`${method} came again under the id ${JSON.stringify(id)} and was left out`);
    if (id !== undefined) asked.set(id, { method, params: isRecord(params) ? params : {} });
    // Nobody is left to be told of the end of something.
    else if (backend === null) return;
    await forward(message);
  };
  const input = editor.readable.getReader();
  try {
    for (;;) {
      const { value, done } = await input.read();
      if (done) break;
      const message = value as Message;
      await fromEditor(message).catch((error: unknown) => {
        if (message.method !== undefined && message.id !== undefined)
          return refuse(message.id, error);
        note(refusalOf(error).message);
      });
    }
  } catch (error) {
    note(`the editor cannot be read any more: ${refusalOf(error).message}`);
  } finally {
    isOver = true;
    await (backend as Backend | null)?.close();
    await output.close().catch(() => {});
  }
}

const OPENING: ReadonlySet<string> = new Set(["session/new", "session/load", "session/resume"]);
const CLOSING: ReadonlySet<string> = new Set(["session/close", "session/delete"]);

const gatewayGone = () => new AcpRefusal(-32603, GONE, { code: "GATEWAY_STOPPING" });

const messageIn = (error: unknown): string =>
  isRecord(error) ? String(error.message) : "it was not said why";
