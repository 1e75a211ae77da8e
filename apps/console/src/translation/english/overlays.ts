/** Texts of overlays. Values in braces are replaced. */
export const overlayTexts = {
  overlays: {
    conflict: 'Another person has changed the same fields of this overlay.',
    none: 'There are no overlays yet',
    noneText: 'An overlay is a text, a picture or a link that the player shows over the video, for example to a shop.',
    add: 'Add an overlay',
    save: 'Save the overlay',
    linkText: 'Text of the link',
    linkUrl: 'Address of the link',
    image: 'Address of a picture',
    from: 'From',
    to: 'To',
    showAtEnd: 'Show when the video has ended',
    yes: 'Yes',
    no: 'No',
    atEnd: 'at the end',
    always: 'Never: no time is set',
    timesHelp: 'Enter both times, the end after the start, or none.',
    deleteTitle: 'Delete “{{title}}”?',
    deleteText: 'Players no longer show it. This cannot be undone.',
    deleted: 'The overlay was deleted.',
  },
}
