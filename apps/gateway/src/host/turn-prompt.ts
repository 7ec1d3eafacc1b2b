// What the system prompt of a session says, from its workspace, settings and tools.
import type { HostSession, ToolPort } from "@clew/engine-core";
import type { Skill } from "../plugins/skills/find-skills.ts";
import { describeSkills, SKILL_TOOL } from "../plugins/skills/skill-tool.ts";
import { SESSION_TOOLS } from "../recall/record-text.ts";
import { workspaceRoot } from "../tools/workspace-files.ts";
import { type HostParts, workspaceOf } from "./parts.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { readWorkspaceInstructions } from "./workspace-instructions.ts";

/** Tools that read the session, and no file. */
const LOOK_UPS: ReadonlySet<string> = new Set(Object.values(SESSION_TOOLS));

export async function systemPromptOf(
  parts: HostParts,
  session: HostSession,
  { tools, skills }: { tools: ToolPort; skills: readonly Skill[] },
) {
  const workspace = workspaceOf(parts, session);
  const own = parts.sessionSettings?.(session.sessionKey);
  const offered = tools.list(session);
  const readsSkills = offered.some(({ name }) => name === SKILL_TOOL);
  return buildSystemPrompt({
    custom: parts.loaded.config.agents.defaults.systemPrompt,
    workspace: offered.some(({ name }) => !LOOK_UPS.has(name))
      ? workspaceRoot(workspace)
      : undefined,
    instructions: own?.isLight ? undefined : await readWorkspaceInstructions(workspace, parts.log),
    skills: readsSkills && !own?.isLight ? describeSkills(skills) : undefined,
    extra: own?.extraSystemPrompt,
  });
}
