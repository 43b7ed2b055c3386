"""Methods of all papers side by side: nobody's paper, what notebooks/together measure."""
