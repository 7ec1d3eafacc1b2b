// What every thread of ours is configured with.
import type { CodexConfig } from "../../config/harness.ts";

/**
 * Codex does not keep it: it is said again at each resume and fork, or texts of its own would enter
 * the history in the middle. `contextWindow`: tokens.
 */
export const threadConfig = (
  { sandbox }: Pick<CodexConfig, "sandbox">,
  contextWindow: number,
): Record<string, unknown> => ({
  model_context_window: contextWindow,
  "skills.include_instructions": false,
  include_environment_context: false,
  include_permissions_instructions: false,
  include_apps_instructions: false,
  web_search: "disabled",
  "features.multi_agent": false,
  "features.goals": false,
  "features.shell_tool": sandbox !== "off",
  "features.view_image": sandbox !== "off",
});

/** Beside it, for start and resume alike. */
export const threadPolicy = ({
  sandbox,
  approvalPolicy,
}: Pick<CodexConfig, "sandbox" | "approvalPolicy">) =>
  sandbox === "off"
    ? { sandbox: "read-only", approvalPolicy: "never" }
    : { sandbox, approvalPolicy };
