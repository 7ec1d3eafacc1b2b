// Decides which of a server's tools are offered, and what a model is told of each.
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { isRecord } from "@clew/plugin-sdk/host";
import type { McpServer } from "./server.ts";
import type { ToolNames } from "./tool-names.ts";

/** One tool of a server, as it is offered. */
export interface OfferedTool {
  server: string;
  /** What the server calls it. */
  tool: string;
  /** What the model is told; its name is the model's. */
  definition: ToolDefinition;
  /** The server says that it changes nothing. */
  saysReadOnly: boolean;
  /** No person is asked before it runs. */
  runsUnasked: boolean;
}

export interface PlannedTools {
  tools: readonly OfferedTool[];
  /** What is not offered, each with why. */
  left: readonly string[];
}

/** What a server may take of every request; a flood of tools would leave no room for anything. */
const MOST_TOOLS = 256;
const MOST_DESCRIPTION_CHARS = 8_000;
const MOST_SCHEMA_CHARS = 64_000;

/** Pure. In the order in which the server lists them. */
export function planOfferedTools(
  server: Pick<McpServer, "name" | "tools" | "approval">,
  listed: readonly unknown[],
  names: ToolNames,
): PlannedTools {
  const tools: OfferedTool[] = [];
  const left: string[] = [];
  const seen = new Set<string>();
  for (const each of listed) {
    const { name, description, inputSchema, annotations } = isRecord(each) ? each : {};
    if (typeof name !== "string" || name === "") {
      left.push("a tool without a name");
      continue;
    }
    if (seen.has(name) || server.tools?.includes(name) === false) continue;
    seen.add(name);
    const parameters = schemaOf(inputSchema);
    if (JSON.stringify(parameters).length > MOST_SCHEMA_CHARS) {
      left.push(`"${short(name)}", whose arguments take too much to describe`);
      continue;
    }
    if (tools.length === MOST_TOOLS) {
      left.push(`what it lists behind the first ${MOST_TOOLS}`);
      break;
    }
    const saysReadOnly = isRecord(annotations) && annotations.readOnlyHint === true;
    tools.push({
      ...{ server: server.name, tool: name, saysReadOnly },
      runsUnasked: server.approval === "allow" || (server.approval === "hints" && saysReadOnly),
      definition: {
        name: names.nameOf(server.name, name),
        description: (typeof description === "string" ? description : "").slice(
          0,
          MOST_DESCRIPTION_CHARS,
        ),
        parameters,
      },
    });
  }
  const missing = (server.tools ?? []).filter((name) => !seen.has(name));
  // What stands behind the last one that was looked at may be there.
  if (tools.length < MOST_TOOLS)
    left.push(
      ...missing.map((name) => `"${short(name)}", which the settings name and it does not have`),
    );
  return { tools, left };
}

function schemaOf(given: unknown): ToolDefinition["parameters"] {
  if (!isRecord(given)) return { type: "object", properties: {} };
  const { $schema: _, ...schema } = given;
  return { ...schema, type: "object" };
}

/** How another list differs; undefined = in nothing. */
export function describeChange(
  before: readonly OfferedTool[],
  after: readonly OfferedTool[],
): string | undefined {
  const old = new Map(before.map((each) => [each.tool, JSON.stringify(each)]));
  const now = new Map(after.map((each) => [each.tool, JSON.stringify(each)]));
  const added = [...now.keys()].filter((name) => !old.has(name));
  const gone = [...old.keys()].filter((name) => !now.has(name));
  const others = [...now].flatMap(([name, json]) =>
    old.has(name) && old.get(name) !== json ? [name] : [],
  );
  const parts = [
    ...(added.length > 0 ? [`new: ${listed(added)}`] : []),
    ...(gone.length > 0 ? [`gone: ${listed(gone)}`] : []),
    ...(others.length > 0 ? [`described otherwise: ${listed(others)}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

const MOST_LISTED = 8;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).map(short).join(", ");
  const more = names.length - MOST_LISTED;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

const short = (name: string): string => (name.length > 64 ? `${name.slice(0, 63)}…` : name);
