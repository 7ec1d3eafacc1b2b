// What a tool of the gateway is, and the port that runs it.
import type { HostSession, ToolOutcome, ToolPort } from "@clew/engine-core";
import { isAbort, type ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { z } from "zod";
import {
  type ApprovalEnd,
  type Asker,
  describeEnd,
  describeRefusal,
  isAllowed,
} from "../approvals/approval.ts";
import { detailsOfEnd } from "../approvals/refused.ts";

export interface Tool<Arguments = unknown, Prepared = unknown> {
  name: string;
  description: string;
  parameters: z.ZodType<Arguments>;
  /** False: every call is approved by a person first, unless `runsUnasked`. */
  readOnly: boolean;
  /** True: it may run although it changes something. Absent: it never does. */
  runsUnasked?(session: HostSession): boolean;
  /** What "for this session" allows from a call on. Absent: any call of the tool. */
  grantOf?(parameters: Arguments): string;
  /**
   * What `run` goes by, as it was before anybody was asked, such as the file that a person sees
   * while the question waits. After a `ToolRefusal` nobody is asked. Absent: nothing.
   */
  prepare?(parameters: Arguments, session: HostSession): Promise<Prepared>;
  /** Whether the tool is of any use in this session; default true. */
  isAvailable?(session: HostSession): boolean;
  /**
   * Text for the model. A `ToolRefusal` is an answer the model may act on;
   * other throws are failures.
   */
  run(
    parameters: Arguments,
    context: { session: HostSession; signal: AbortSignal; prepared: Prepared; callId: string },
  ): Promise<string>;
}

/** Why a tool does not do what was asked, in words for the model. */
export class ToolRefusal extends Error {}

/** Asks a person whether a call may run. May reject once the turn is stopped. */
export type Approve = (request: {
  asker: Asker;
  call: ToolCallBlock;
  session: HostSession;
  signal: AbortSignal;
  /** What "for this session" allows. Absent: any call of the tool. */
  grant?: string | undefined;
}) => Promise<ApprovalEnd>;

/** The gateway's own tools. */
const OWN: Asker = { kind: "tool", id: "gateway" };
const NOBODY: ApprovalEnd = { kind: "nobody" };

/** Lets a list hold tools of different arguments; they are checked by each tool's own schema. */
export function defineTool<Arguments, Prepared>(tool: Tool<Arguments, Prepared>): Tool {
  return {
    ...(tool as unknown as Tool),
    run: (parameters, context) =>
      tool.run(tool.parameters.parse(parameters), {
        ...context,
        prepared: context.prepared as Prepared,
      }),
  };
}

/** Without `approve`, tools that change something are refused. */
export function createToolPort({
  tools,
  approve,
}: {
  tools: readonly Tool[];
  approve?: Approve | undefined;
}): ToolPort {
  const definitions = new Map(tools.map((tool) => [tool, describe(tool)]));
  /** What several ask, such as whether there is a workspace, is asked once. */
  const available = (session: HostSession) => {
    const answers = new Map<Tool["isAvailable"], boolean>();
    return tools.filter((tool) => {
      const answer = answers.get(tool.isAvailable) ?? tool.isAvailable?.(session) ?? true;
      answers.set(tool.isAvailable, answer);
      return answer;
    });
  };
  return {
    list: (session) => available(session).map((tool) => definitions.get(tool)!),
    async run({ call, session, signal }) {
      const tool = available(session).find(({ name }) => name === call.name);
      if (tool === undefined) return noSuchTool(call.name, available(session));
      const checked = tool.parameters.safeParse(call.arguments);
      if (!checked.success)
        return refusal(
          `The arguments of ${tool.name} are wrong: ${z.prettifyError(checked.error)}`,
        );
      const told = (work: () => Promise<string>) => outcomeOf(tool, signal, work);
      let prepared: unknown;
      const unprepared = await told(async () => {
        prepared = await tool.prepare?.(checked.data, session);
        return "";
      });
      if (unprepared.isError) return unprepared;
      const context = { session, signal, callId: call.id };
      const run = () => told(() => tool.run(checked.data, { ...context, prepared }));
      if (tool.readOnly || tool.runsUnasked?.(session) === true) return run();
      const grant = tool.grantOf?.(checked.data);
      const asked = { asker: OWN, call, session, signal, grant };
      const end = (await approve?.(asked)) ?? NOBODY;
      if (!isAllowed(end)) return notAllowed(tool.name, end);
      const outcome = await run();
      const notes = [describeEnd(end), outcome.note].filter((note) => note !== undefined);
      return { ...outcome, note: notes.join("; ") };
    },
  };
}

/** What a call of a tool that is not offered is told: the names of those that are. */
export function noSuchTool(name: string, offered: readonly { name: string }[]): ToolOutcome {
  const names = offered.map((tool) => tool.name).join(", ") || "none";
  return refusal(`There is no tool "${name}"; there is: ${names}.`);
}

/** Rejects only when it is stopped. */
async function outcomeOf(
  { name }: Tool,
  signal: AbortSignal,
  work: () => Promise<string>,
): Promise<ToolOutcome> {
  try {
    signal.throwIfAborted();
    return { content: [{ type: "text", text: await work() }], isError: false };
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    if (error instanceof ToolRefusal) return refusal(error.message);
    return failure(`${name} failed: ${(error as Error).message}`);
  }
}

/** Of arguments that were described before: ports are made for each turn, their schemas are not. */
const known = new WeakMap<z.ZodType, ToolDefinition["parameters"]>();

function describe({ name, description, parameters: schema }: Tool): ToolDefinition {
  const parameters = known.get(schema) ?? schemaOf(schema);
  known.set(schema, parameters);
  return { name, description, parameters };
}

/** What a model is told of its arguments. */
export function schemaOf(schema: z.ZodType): ToolDefinition["parameters"] {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return parameters;
}

function failure(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}

/** Pure. Of a call that a person did not allow, or was not asked about. */
export const notAllowed = (name: string, end: ApprovalEnd): ToolOutcome => ({
  ...refusal(describeRefusal(name, end)),
  ...detailsOfEnd(end),
});

/** The reason is told to the model, and stands in the turn report. */
export function refusal(text: string): ToolOutcome {
  return { ...failure(text), note: text };
}
