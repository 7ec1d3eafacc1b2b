// What is said of a message that a program's thread held, so that it was not handed over again.
export const HELD = ", held by the program's thread";
