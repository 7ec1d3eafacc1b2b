// Style sheets are imported for their effect: the bundler writes them beside the script.
declare module "*.css";
