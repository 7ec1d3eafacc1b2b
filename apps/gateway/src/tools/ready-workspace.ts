// Makes an agent's own folder once a tool shall work in it, and says why one is not there.
import { mkdirSync } from "node:fs";
import type { AgentSettings } from "../config/agent.ts";
import type { ToolsConfig } from "../config/tools.ts";
import { visible } from "../text/visible.ts";
import { workspaceRoot } from "./workspace-files.ts";

type Place = Pick<AgentSettings, "workspace" | "isWorkspaceSet">;
type Uses = Pick<ToolsConfig, "write" | "shell">;

/** Pure. What only looks needs no folder in which there is nothing to see. */
const isWanted = ({ isWorkspaceSet }: Place, { write, shell }: Uses): boolean =>
  !isWorkspaceSet && (write !== "off" || shell !== "off");

/** A folder that a person named is theirs to make. */
export function readyWorkspace(place: Place, uses: Uses): string {
  const { workspace } = place;
  if (isWanted(place, uses) && workspaceRoot(workspace) === undefined)
    try {
      mkdirSync(workspace, { recursive: true, mode: 0o700 });
    } catch {
      // It is not there then, which is told where tools are listed.
    }
  return workspace;
}

/** The folder, made where nobody named one, for a program that works in it in any case. */
export const workspaceOfProgram = (place: Place): string =>
  readyWorkspace(place, { write: "allow", shell: "allow" });

/** A clause; null: it is there, or will be once a tool needs it, or nothing asks for it. */
export function whyNoWorkspace(place: Place, uses: Uses): string | null {
  const { workspace, isWorkspaceSet } = place;
  if (workspaceRoot(workspace) !== undefined) return null;
  if (!isWorkspaceSet && !isWanted(place, uses)) return null;
  const folder = `the workspace ${visible(workspace)}`;
  return isWorkspaceSet
    ? `${folder} is not there; make the folder, or choose another one with agents.defaults.workspace`
    : `${folder} is not there and could not be made`;
}
