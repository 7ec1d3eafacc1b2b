// Names the tools that the gateway itself offers.

import { sessionTools } from "../subagents/session-tools.ts";
import { workspaceTools } from "../tools/workspace-tools.ts";
import { SESSION_TOOLS } from "./record-text.ts";

export const gatewayTools = (): string[] => [
  ...Object.values(SESSION_TOOLS),
  ...workspaceTools(() => "").map(({ name }) => name),
  ...sessionTools(() => undefined).map(({ name }) => name),
];
