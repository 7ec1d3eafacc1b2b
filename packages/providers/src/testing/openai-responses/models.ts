// What OpenAI's models differ in, as far as their name tells.

const NAME = /^gpt-(\d+)(?:\.(\d+))?/;

function versionOf(model: string): number {
  const [, major = "0", minor = "0"] = NAME.exec(model) ?? [];
  return Number(major) + Number(minor) / 10;
}

/** From 5.6 on writing to the cache costs, and can be marked. */
export const marksCache = (model: string): boolean => versionOf(model) >= 5.6;

/** Reasoning models take no temperature. */
export const isReasoning = (model: string): boolean =>
  /^o\d/.test(model) || (versionOf(model) >= 5 && !model.includes("chat"));
