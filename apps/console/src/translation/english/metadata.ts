/** Texts of metadata of videos. Values in braces are replaced. */
export const metadataTexts = {
  metadata: {
    conflict: 'Another person has changed {{names}}. Save again to replace that, or reload the page to see it.',
    title: 'Metadata',
    text: 'Values that your programs store with the video. Players receive the public ones.',
    name: 'Name of entry {{number}}',
    nameHelp: 'Lower-case letters a to z and underscores',
    value: 'Value of entry {{number}}',
    private: 'Private',
    remove: 'Remove entry {{number}}',
    repeated: 'Another entry has this name.',
    add: 'Add an entry',
    save: 'Save the metadata',
  },
}
