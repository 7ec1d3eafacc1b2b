// Which program runs a session's turn.
import { resolve } from "node:path";
import {
  CLEW_EMBEDDED_HOST,
  type ExecutionHost,
  type ExecutionPort,
  HOST_CAPABILITIES,
  type HostSession,
  type TurnRequest,
} from "@clew/engine-core";
import { type HarnessFacts, whyNotAsked } from "../harness/harness.ts";
import { meteredPort } from "../harness/metered-port.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import { visible } from "../text/visible.ts";
import { onlyReads } from "../tools/editor-client.ts";
import { workspaceOfProgram } from "../tools/ready-workspace.ts";
import { workspaceRoot } from "../tools/workspace-files.ts";
import type { TurnSetup } from "./host.ts";
import { agentOf, type HostParts } from "./parts.ts";

/** Neither: the gateway runs it itself. */
interface TurnHarness {
  execution?: ExecutionPort;
  refusal?: NonNullable<TurnRequest["refusal"]>;
}

/**
 * Recordings, the turns of clients that bring their own history, and what a memory stores are the
 * gateway's own.
 */
export async function harnessOf(
  parts: HostParts,
  { transcript, replacement, client, purpose }: TurnSetup,
  { model, engineOf }: { model: ResolvedModel; engineOf: () => string },
): Promise<TurnHarness> {
  if (replacement !== undefined || client !== undefined || purpose !== undefined) return {};
  const { session } = transcript;
  const agent = agentOf(parts, session.agentId);
  const harness = await parts.harnesses.find(agent.harness);
  if (harness === null) return {};
  if (harness === undefined) return { refusal: unknownHarness(agent, parts.harnesses.ids()) };
  const place = parts.editorOf?.(session.sessionKey);
  const readOnly = onlyReads(place);
  const workspace = resolve(place?.workspace ?? workspaceOfProgram(agent));
  if (workspaceRoot(workspace) === undefined) return { refusal: noFolder(agent, workspace) };
  const port = harness.port({
    ...{ session, model, workspace, readOnly },
    signInHeaders: () => parts.models.signInHeaders(model),
    approvals: readOnly ? undefined : parts.approvals,
  });
  return { execution: counted(parts, port, { session, model, engineOf }) };
}

/** The program's model has tools of its own, and none of the gateway's. */
export async function isWithoutOurTools(
  parts: HostParts,
  { transcript, replacement, client, purpose }: TurnSetup,
): Promise<boolean> {
  if (replacement !== undefined || client !== undefined || purpose !== undefined) return false;
  const harness = await parts.harnesses.find(agentOf(parts, transcript.session.agentId).harness);
  return harness != null && !harness.takesTools;
}

/** Why the agent's program cannot ask that model; undefined: it can, or the gateway asks. */
export async function whyNotAskedBy(
  parts: HostParts,
  agentId: string,
  model: ResolvedModel,
): Promise<string | undefined> {
  const harness = await parts.harnesses.find(agentOf(parts, agentId).harness);
  return harness == null ? undefined : whyNotAsked(harness, model);
}

/** Where nobody counts it is the port itself. */
function counted(
  { costs }: HostParts,
  port: ExecutionPort,
  {
    session,
    model,
    engineOf,
  }: { session: HostSession; model: ResolvedModel; engineOf: () => string },
): ExecutionPort {
  if (costs === undefined) return port;
  const subject = {
    ...{ agentId: session.agentId, sessionKey: session.sessionKey, plugin: null },
    get engine() {
      return engineOf();
    },
  };
  return meteredPort(port, { costs, subject, model: model.name, prices: model.prices });
}

/** None of the gateway's own folders takes its place. */
const noFolder = (
  { id, harness }: { id: string; harness: string },
  folder: string,
): NonNullable<TurnHarness["refusal"]> => ({
  code: "HARNESS_UNAVAILABLE",
  message: `Agent "${id}" runs its turns in "${harness}", and the folder in which it should work is not there: make ${visible(folder)}, or name another one in the agent's workspace.`,
});

const NOT_NAMED = {
  label: "nothing, as no setting names it",
  cannot: [],
  takesTools: true,
  holds: null,
};

const unknownHarness = (
  { id, harness }: { id: string; harness: string },
  known: readonly string[],
): NonNullable<TurnHarness["refusal"]> => ({
  code: "CONFIG_INVALID",
  message: `Agent "${id}" runs its turns in "${harness}", which no setting names; there is ${known.map((name) => `"${name}"`).join(", ")}.`,
});

/** Who runs an agent's turns, as engines are told of it. */
export async function hostOfAgent(parts: HostParts, agentId: string): Promise<ExecutionHost> {
  const harness = await parts.harnesses.find(agentOf(parts, agentId).harness);
  return harness?.host ?? CLEW_EMBEDDED_HOST;
}

/** For people; null: the gateway itself. */
export async function harnessFacts(
  parts: HostParts,
  session: Pick<HostSession, "agentId" | "sessionKey">,
): Promise<HarnessFacts | null> {
  const harness = await parts.harnesses.find(agentOf(parts, session.agentId).harness);
  if (harness === null) return null;
  if (harness === undefined) return { ...NOT_NAMED, id: agentOf(parts, session.agentId).harness };
  const { label, capabilities } = harness.host;
  return {
    ...{ id: harness.id, label, takesTools: harness.takesTools },
    cannot: HOST_CAPABILITIES.filter((each) => !capabilities.includes(each)),
    holds: (await harness.describe(session)) ?? null,
  };
}
