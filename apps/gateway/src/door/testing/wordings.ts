// What generated persons and clients say.

export const PROMPTS = ["Fix the bug in the parser.", "Write the tests that are missing."];
export const FOLLOW_UPS = ["continue", "go on", "Is that all?"];
export const ASK_FOR_SUMMARY = `Write a detailed summary of this conversation. ${"Name every file. ".repeat(60)}`;

export const LABELS = [
  "Reply with a title for this conversation.",
  "Write a commit message for these changes.",
  "Suggest what the person may ask next, in one sentence.",
];
