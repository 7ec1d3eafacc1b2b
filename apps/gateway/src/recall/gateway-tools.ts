// Names the tools that the gateway itself offers.

import { workspaceTools } from "../tools/workspace-tools.ts";
import { SESSION_TOOLS } from "./record-text.ts";

export const gatewayTools = (): string[] => [
  ...Object.values(SESSION_TOOLS),
  ...workspaceTools(() => "").map(({ name }) => name),
];
