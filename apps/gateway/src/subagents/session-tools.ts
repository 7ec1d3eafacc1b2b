// The tools by which a session starts others, and talks to those of its own tree.
import type { HostSession } from "@clew/engine-core";
import { z } from "zod";
import { defineTool, type Tool } from "../tools/tool.ts";
import type { SpawnAsk } from "./plan-spawn.ts";

/** The tool by which a session starts another one. */
export const SPAWN_TOOL = "sessions_spawn";

/** What the tools reach of the gateway. */
export interface SessionToolsPort {
  /** Whether this session may start others, as far as that is known now. */
  maySpawn(session: HostSession): boolean;
  /** Starts a child, and waits for its end where it is asked to. Throws `ToolRefusal`. */
  spawn(
    session: HostSession,
    ask: SpawnAsk,
    options: { waits: boolean; signal: AbortSignal },
  ): Promise<string>;
  /** Waits for the reply for `waitMs`; 0 = not at all. Throws `ToolRefusal`. */
  send(
    session: HostSession,
    request: { key: string; message: string; waitMs: number; signal: AbortSignal },
  ): Promise<string>;
  /** The tree that the session is part of, as lines. */
  list(session: HostSession): Promise<string>;
  /** The newest messages, as they are shown to people. Throws `ToolRefusal`. */
  history(session: HostSession, request: { key: string; limit: number }): Promise<string>;
}

const sessionKey = z.string().min(1).describe("Key of the session, as sessions_list names it.");
const seconds = z.number().int().positive();

const SpawnSchema = z.object({
  task: z.string().min(1).describe("What to do, and what to answer."),
  wait: z
    .boolean()
    .default(false)
    .describe("True: return its reply. False: it comes as a message later."),
  label: z.string().max(80).optional().describe("A short name for people."),
  contextMode: z
    .enum(["isolated", "fork"])
    .optional()
    .describe("fork: it begins with this session's history. Default: isolated."),
  lightContext: z
    .boolean()
    .optional()
    .describe("True: an isolated one without workspace instructions or a look at this one's past."),
  agentId: z.string().optional().describe("Who answers; default: as here."),
  model: z.string().optional().describe('"provider/model"; default: the agent\'s.'),
  engine: z.string().optional().describe("Context engine; default: the agent's."),
  timeoutSeconds: seconds.optional().describe("How long it may run."),
  cleanup: z
    .enum(["keep", "delete"])
    .optional()
    .describe("delete: its transcript goes at its end."),
});

const SendSchema = z.object({
  sessionKey,
  message: z.string().min(1),
  timeoutSeconds: z
    .number()
    .int()
    .min(0)
    .max(600)
    .default(30)
    .describe("How long to wait for the reply; 0 = not at all."),
});

const HistorySchema = z.object({
  sessionKey,
  limit: z.number().int().min(1).max(200).default(20).describe("Newest messages, at most."),
});

/** `port` is asked at each call: tools are made before there is a gateway. */
export function sessionTools(port: () => SessionToolsPort | undefined): Tool[] {
  const isAvailable = () => port() !== undefined;
  return [
    defineTool({
      name: SPAWN_TOOL,
      description: "Starts another session that works on a task by itself.",
      parameters: SpawnSchema,
      readOnly: true,
      isAvailable: (session) => port()?.maySpawn(session) ?? false,
      run: ({ wait: waits, ...ask }, { session, signal }) =>
        port()!.spawn(session, ask, { waits, signal }),
    }),
    defineTool({
      name: "sessions_send",
      description: "Sends a message to a session of this one's tree, and returns its reply.",
      parameters: SendSchema,
      readOnly: true,
      isAvailable,
      run: ({ sessionKey: key, message, timeoutSeconds }, { session, signal }) =>
        port()!.send(session, { key, message, waitMs: timeoutSeconds * 1000, signal }),
    }),
    defineTool({
      name: "sessions_list",
      description: "Lists the tree of sessions that this one belongs to, and how each is.",
      parameters: z.object({}),
      readOnly: true,
      isAvailable,
      run: (_, { session }) => port()!.list(session),
    }),
    defineTool({
      name: "sessions_history",
      description: "Returns the newest messages of a session of this one's tree.",
      parameters: HistorySchema,
      readOnly: true,
      isAvailable,
      run: ({ sessionKey: key, limit }, { session }) => port()!.history(session, { key, limit }),
    }),
  ];
}
