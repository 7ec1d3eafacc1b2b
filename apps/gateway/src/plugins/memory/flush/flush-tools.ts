// The tools that a memory flush may use.
import type { HostSession, ToolPort } from "@clew/engine-core";
import { z } from "zod";
import { createToolPort, defineTool, type Tool, ToolRefusal } from "../../../tools/tool.ts";
import {
  type Bounds,
  type OwnPlaces,
  readText,
  resolveInside,
  workspaceRoot,
} from "../../../tools/workspace-files.ts";
import { placeToWrite, requireFits, writeText } from "../../../tools/write-files.ts";

/** Of the host's own tools. */
const MAY_READ = ["read_file", "memory_search", "memory_get"];
/** Of what is read back before something is added to it, bytes. */
const MAX_BYTES = 1024 * 1024;

export interface FlushToolsRequest {
  /** All that the agent has. */
  base: ToolPort;
  /** Names of the memory plugin's own tools. */
  ofPlugin: readonly string[];
  workspaceOf(session: HostSession): string;
  own: OwnPlaces;
  /** The only file that may be written, below the workspace; undefined = none. */
  relativePath: string | undefined;
}

export function flushTools(request: FlushToolsRequest): ToolPort {
  const { base, ofPlugin, relativePath } = request;
  const allowed = new Set([...MAY_READ, ...ofPlugin]);
  const added = relativePath === undefined ? [] : [appendTool(request, relativePath)];
  const own = createToolPort({ tools: added });
  const isOwn = (name: string, session: HostSession) =>
    own.list(session).some((tool) => tool.name === name);
  return {
    list: (session) => [
      ...base.list(session).filter(({ name }) => allowed.has(name) && !isOwn(name, session)),
      ...own.list(session),
    ],
    run: (asked) => {
      const { name } = asked.call;
      return allowed.has(name) && !isOwn(name, asked.session) ? base.run(asked) : own.run(asked);
    },
  };
}

function appendTool(
  { workspaceOf, own }: Pick<FlushToolsRequest, "workspaceOf" | "own">,
  relativePath: string,
): Tool {
  return defineTool({
    name: "write_file",
    description: `Adds text to the end of ${relativePath}; no other file can be written now.`,
    parameters: z.object({
      path: z.string().min(1).optional().describe(`${relativePath}; nothing else is taken.`),
      content: z.string().min(1).describe("What is added, as Markdown."),
    }),
    readOnly: false,
    runsUnasked: () => true,
    isAvailable: (session) => workspaceRoot(workspaceOf(session)) !== undefined,
    run: async ({ path = relativePath, content }, { session, signal }) => {
      if (path.replace(/^\.\//, "") !== relativePath.replace(/^\.\//, ""))
        throw new ToolRefusal(`Only ${relativePath} can be written now; what is there stays.`);
      const bounds = { root: workspaceRoot(workspaceOf(session))!, own };
      const place = await placeToWrite(bounds, relativePath);
      const before = place.found === undefined ? "" : await textOf(bounds, relativePath);
      const text = `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${content.trimEnd()}\n`;
      requireFits(text);
      await writeText(place, text, signal);
      return `Added to ${relativePath}.`;
    },
  });
}

async function textOf(bounds: Bounds, path: string): Promise<string> {
  const file = await readText(await resolveInside(bounds, path), MAX_BYTES);
  if (file === undefined || file.size > MAX_BYTES)
    throw new ToolRefusal(`${path} is too large, or no text; nothing was added to it.`);
  return file.text;
}
