"""The changes of the set of indexed pages, harvest by harvest, for programs that follow them.

The step `index` compares what it indexes with what the dataset `changes` says of the same pages,
and commits the differences together with the index. So changes can neither be lost nor be recorded
twice, and whoever applies them in their order has the pages that the index has.

    recording.py   which pages were added, have changed or have left, as rows
    departures.py  … and for those that have left, why
    log_layers.py  the layers of these rows, and which rows are merged away
    cursor.py      a place in this order, as a text that programs keep
    reading.py     the changes after a place, without the engine

The order is that of the harvests, and within a harvest that of a hash of the URL. Changes of the
last days (`index.changes_days`) are all there. Of older ones, the newest of each page remains,
until it leaves the index: enough for whoever begins with nothing, and too little for a program that
has stopped asking meanwhile, which is told so.
"""
