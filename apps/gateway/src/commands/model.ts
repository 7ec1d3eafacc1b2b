// The command `/model`, which says and chooses who answers in a session.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { CommandAnswer, CommandSession } from "./answer.ts";

/** "default" leaves it to the settings again. */
export async function runModel(
  args: string,
  session: Pick<CommandSession, "model">,
): Promise<Omit<CommandAnswer, "command">> {
  const word = args.trim();
  if (word === "") {
    const { answering, chosen, settings } = await session.model();
    const why =
      chosen === null
        ? "as the settings say"
        : `chosen for this session; the settings say ${settings}`;
    const text = `Model: ${answering}, ${why}. "/model provider/model" chooses another one, "/model default" leaves it to the settings.`;
    return { ok: true, text, data: { answering, chosen, settings } };
  }
  if (word.endsWith("/*")) {
    const provider = word.slice(0, -2);
    const text = `Nothing was changed: "${word}" stands for any model that ${provider} has; say which: "/model ${provider}/NAME".`;
    return { ok: false, text };
  }
  try {
    const data = await session.model(word === "default" ? null : word);
    return { ok: true, text: `From here on ${data.answering} answers in this session.`, data };
  } catch (error) {
    if (!ContextEngineError.is(error, "CONFIG_INVALID")) throw error;
    return { ok: false, text: `Nothing was changed: ${error.message}` };
  }
}
