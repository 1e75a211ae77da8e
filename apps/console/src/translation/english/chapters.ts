/** Texts of chapters and of the times of captions. Values in braces are replaced. */
export const chapterTexts = {
  chapters: {
    none: 'There are no chapters yet',
    noneText: 'Viewers can jump to a chapter in the player.',
    add: 'Add a chapter',
    start: 'Start of chapter {{number}}',
    startHelp: 'For example 1:30',
    afterEnd: 'The video ends at {{duration}}',
    name: 'Title of chapter {{number}}',
    remove: 'Remove chapter {{number}}',
    help: 'A chapter ends at the start of the next one.',
  },
}
